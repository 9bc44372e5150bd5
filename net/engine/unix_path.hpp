// SPDX-License-Identifier: BSL-1.0
// unix_path: the file of a listening Unix socket. Replaces a stale file, never one in use; the destructor removes it.
#pragma once

#include "../options/listen_options.hpp"

#include <string>

#include <sys/types.h>

namespace quintet {

/// Owns the file as long as nobody has replaced it.
class unix_path {
 public:
  /// [loop] [before run] Binds the socket, sets the file's mode, then listens. Replaces a file whose server has ended.
  /// Throws boost::system::system_error: address_in_use if a server listens there or the file is no socket.
  unix_path(int socket, const address& at, const listener_settings& how);
  unix_path(unix_path&& other) noexcept;
  unix_path& operator=(unix_path&&) = delete;
  /// Removes the file unless somebody has replaced it.
  ~unix_path();

 private:
  unix_path() noexcept = default;

  std::string path_;  // empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace quintet
