// SPDX-License-Identifier: BSL-1.0
// log_file: writes a line of time, severity and text.
#include "log_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <utility>

namespace example {
namespace {

constinit std::atomic<bool> must_reopen{false};

extern "C" void quintet_example_on_hangup(int) { must_reopen.store(true); }

class log_file {
 public:
  log_file(std::string path, quintet::severity least) : path_(std::move(path)), least_(least), file_(open()) {
    if (!file_ && !path_.empty()) throw quintet::config_error("--log: " + path_ + ": " + std::strerror(errno));
  }

  void write(const quintet::log_event& event) {
    if (event.level < least_) return;
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::array<char, 32> when{};
    (void)std::strftime(when.data(), when.size(), "%FT%TZ", ::gmtime_r(&now, &parts));
    const std::string line =
        std::string(when.data()) + " " + std::string(to_string(event.level)) + " " + to_string(event) + "\n";
    const std::lock_guard lock(mutex_);
    if (must_reopen.exchange(false)) reopen();
    std::FILE* const to = file_ ? file_.get() : stderr;
    (void)std::fputs(line.c_str(), to);
    (void)std::fflush(to);
  }

 private:
  struct closer {
    void operator()(std::FILE* f) const noexcept { (void)std::fclose(f); }
  };
  using file = std::unique_ptr<std::FILE, closer>;
  // Without a fresh file, the old one stays in use.
  void reopen() {
    if (file fresh = open()) file_ = std::move(fresh);
  }
  [[nodiscard]] file open() const { return file(path_.empty() ? nullptr : std::fopen(path_.c_str(), "ae")); }

  const std::string path_;
  const quintet::severity least_;
  file file_;
  std::mutex mutex_;
};

}  // namespace

quintet::log_hook open_log(const std::string& path, quintet::severity least) {
  const auto log = std::make_shared<log_file>(path, least);
  if (!path.empty()) {
    struct sigaction action{};
    action.sa_handler = &quintet_example_on_hangup;
    action.sa_flags = SA_RESTART;
    (void)::sigaction(SIGHUP, &action, nullptr);
  }
  return [log](const quintet::log_event& e) { log->write(e); };
}

}  // namespace example
