// SPDX-License-Identifier: BSL-1.0
// step6_limits: step 6 of the tutorial: limits, and replies that are longer than they may wait in memory.
#include "common/options.hpp"
#include "tutorial/wire.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

namespace {

/// "rows N" sends N rows, as fast as the client reads them.
class session {
 public:
  void operator()(quintet::connection& c, quintet::bytes request) {
    waiting_.emplace_back(request);  // those of one batch at most: no input comes before on_writable
    go_on(c);
  }
  void on_writable(quintet::connection& c) { go_on(c); }

 private:
  void go_on(quintet::connection& c) {
    for (; sent_ < rows_ || begin_next(c); ++sent_) {
      if (c.closing() || !c.writable()) return;  // on_writable comes later, and no input before it
      tutorial::reply(c, "row " + std::to_string(sent_) + " " + std::string(40, '.'));
      if (sent_ + 1 == rows_) tutorial::reply(c, "end " + std::to_string(rows_));
    }
  }
  /// Answers requests until one has rows. Returns false if none has.
  bool begin_next(quintet::connection& c) {
    for (; !waiting_.empty() && sent_ == rows_; waiting_.pop_front()) {
      quintet::bytes request = waiting_.front();
      const quintet::bytes command = tutorial::take_word(request);
      const auto number = tutorial::to_number(request, 1'000'000'000);
      if (command == "ping")
        tutorial::reply(c, "pong");
      else if (command == "rows" && number && *number > 0)
        rows_ = *number, sent_ = 0;
      else
        tutorial::reply(c, "error: the requests are ping and rows N");
    }
    return sent_ < rows_;
  }

  std::deque<std::string> waiting_;
  std::size_t rows_ = 0, sent_ = 0;  // of the request that is being answered
};

quintet::config limited() {
  auto config = quintet::config::public_defaults({"127.0.0.1:7106"});
  config.accepting.max_connections = 1000;
  config.accepting.max_connections_per_address = 8;
  config.limits.max_input = 64 * 1024;       // some requests of one client
  config.limits.high_watermark = 64 * 1024;  // above it, writable() is false
  config.limits.low_watermark = 16 * 1024;   // here on_writable comes
  config.limits.max_output = 1024 * 1024;    // more closes the connection, so writable() has to be asked
  config.limits.send_timeout = std::chrono::seconds(10);
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  auto config = limited();
  example::command_line("step6_limits", "Step 6 of the tutorial: long replies within limits.")
      .server(config)
      .try_it("  step6_limits &\n  tutorial_ask --first 2 7106 'rows 100000000'")
      .parse(argc, argv);
  try {
    quintet::server server(config, quintet::framed(tutorial::wire, session()));
    example::serve("step6_limits", config, server);
  } catch (...) {
    return example::report_exception("step6_limits");
  }
}
