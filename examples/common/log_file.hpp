// SPDX-License-Identifier: BSL-1.0
// log_file: log events of the server and the relays, one line each, to a file or to standard error.
#pragma once

#include <quintet/base/log.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace example::proxy {

class log_file {
 public:
  /// Opens a file to append to; an empty path means standard error. Throws config_error if the file cannot be opened.
  log_file(const std::string& path, quintet::severity least);

  /// [any thread]
  void write(const quintet::log_event& event);

 private:
  struct closer {
    void operator()(std::FILE* f) const noexcept { (void)std::fclose(f); }
  };
  const quintet::severity least_;
  std::unique_ptr<std::FILE, closer> file_;
  std::mutex mutex_;
};

}  // namespace example::proxy
