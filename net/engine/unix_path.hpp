// SPDX-License-Identifier: BSL-1.0
// unix_path: the file of a listening Unix socket: taken from the dead, never from the living, and removed at the end.
#pragma once

#include "../options/listen_options.hpp"

#include <string>

#include <sys/types.h>

namespace quintet {

/// Owns the file for as long as it is the one that it has made.
class unix_path {
 public:
  /// Binds the socket and listens, with the file's mode set before anybody can connect. A file whose server is gone is
  /// replaced. Throws boost::system::system_error: address_in_use when somebody listens there, or it is no socket.
  unix_path(int socket, const address& at, const listener_settings& how);
  unix_path(unix_path&& other) noexcept;
  unix_path& operator=(unix_path&&) = delete;
  /// Removes the file unless another one is there now.
  ~unix_path();

 private:
  unix_path() noexcept = default;

  std::string path_;  // empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace quintet
