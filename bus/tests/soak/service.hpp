// SPDX-License-Identifier: BSL-1.0
// service: the handlers of the soak test, as callback and coroutine, and the stage on which they record what they see.
#pragma once

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace quintet::test::soak {

class messages;

/// A request is a line, "<verb> <number> <size of the reply>" and filler. The verb says what the handler does.
/// Each reply is a line "r <number> <size>" and so many bytes of pattern(). Other messages begin with another letter.
struct request {
  char verb = 'e';  ///< see verbs
  std::uint32_t number = 0;
  std::uint32_t size = 0;
};
/// e: replies; some send a message over the bus. o: offloads. w: waits on the loop's clock. p: pauses. m: moves to
/// another loop. f: flushes. l: sets other limits. b: replies in pieces. n: asks when it was sent. c: replies and
/// closes. x: throws.
inline constexpr std::string_view verbs = "eeeeowpmflbncx";

[[nodiscard]] std::string to_line(const request& r, std::size_t filler);
/// Returns the bytes of a reply. They depend on the request alone.
[[nodiscard]] std::string pattern(std::uint32_t number, std::size_t size);

/// What all handlers of a round have seen. [any thread]
class stage {
 public:
  std::atomic<int> handlers{0};  ///< that live
  std::atomic<std::uint64_t> opened{0}, closed{0}, told{0}, asked{0};
  std::atomic<std::uint64_t> requests{0};

  void report(const std::string& what);
  [[nodiscard]] std::string reported() const;
  /// A connection that has paused. Throws std::bad_alloc.
  void add_paused(connection_id id);
  [[nodiscard]] std::vector<connection_id> take_paused();
  /// The loops to which connections may move; set before the clients begin.
  void set_loops(const std::vector<event_loop*>& loops) { loops_ = loops; }
  /// The round's bus, if any; set before the clients begin.
  void set_bus(messages* bus) { bus_ = bus; }
  [[nodiscard]] messages* bus() const { return bus_; }
  [[nodiscard]] event_loop* loop(std::uint32_t number) const {
    return loops_.empty() ? nullptr : loops_[number % loops_.size()];
  }

 private:
  mutable std::mutex mutex_;
  std::string reported_;
  std::vector<connection_id> paused_;
  std::vector<event_loop*> loops_;
  messages* bus_ = nullptr;
};

/// One connection's part of both handlers. Moves with its handler; never copied.
class visit {
 public:
  explicit visit(stage& on) noexcept : stage_(&on) { ++on.handlers; }
  visit(visit&& other) noexcept : stage_(other.stage_), state_(other.state_) { ++stage_->handlers; }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() { --stage_->handlers; }

  void open();
  void close();
  [[nodiscard]] stage& on() const noexcept { return *stage_; }
  /// Performs a request. Returns false if the connection takes no further request.
  bool serve(connection& c, const request& r);
  /// Reports if a call of the handler begins while another runs.
  class turn {
   public:
    explicit turn(visit& v);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn();

   private:
    visit& visit_;
  };

 private:
  enum class state : std::uint8_t { fresh, open, closed };
  stage* stage_;
  state state_ = state::fresh;
  bool working_ = false;
};

/// Finds the next request in `in`. Returns the bytes of its line, or 0 if it is incomplete.
[[nodiscard]] std::size_t parse(bytes in, request& r);

class callback_service {
 public:
  explicit callback_service(stage& on) noexcept : visit_(on) {}
  void on_open(connection&) { visit_.open(); }
  std::size_t operator()(connection& c, bytes in);
  void on_writable(connection&) {}
  void on_close(connection&, error_code) { visit_.close(); }

 private:
  visit visit_;
};

class coroutine_service {
 public:
  explicit coroutine_service(stage& on) noexcept : stage_(&on) {}
  awaitable<> operator()(stream& s);

 private:
  stage* stage_;
};

}  // namespace quintet::test::soak
