// SPDX-License-Identifier: BSL-1.0
// log_file: writes a line of time, severity and text.
#include "proxy/log_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace example::proxy {

log_file::log_file(const std::string& path, quintet::severity least) : least_(least) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "a"));
  if (!file_) throw quintet::config_error("--log: " + path + ": " + std::strerror(errno));
}

void log_file::write(const quintet::log_event& event) {
  if (event.level < least_) return;
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> when{};
  (void)std::strftime(when.data(), when.size(), "%FT%TZ", ::gmtime_r(&now, &parts));
  const std::string line =
      std::string(when.data()) + " " + std::string(to_string(event.level)) + " " + to_string(event) + "\n";
  const std::lock_guard lock(mutex_);
  std::FILE* const to = file_ ? file_.get() : stderr;
  (void)std::fputs(line.c_str(), to);
  (void)std::fflush(to);
}

}  // namespace example::proxy
