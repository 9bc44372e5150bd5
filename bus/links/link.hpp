// SPDX-License-Identifier: BSL-1.0
// link: a node's messages to and from one peer. It outlives the connections that carry them.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "dialer.hpp"
#include "frames.hpp"
#include "send_queue.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace quintet::bus {

class node;
class wire;

using completion = std::function<void(error_code)>;

/// All functions: [loop]. At most one wire is current: the link sends on it. The one before may still deliver.
class link {
 public:
  link(node& owner, std::uint64_t id);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] send_queue& out() noexcept { return out_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  void count_received() noexcept { ++received_; }
  [[nodiscard]] bool is_current(const wire& w) const noexcept { return current_ == &w; }
  [[nodiscard]] wire* current() const noexcept { return current_; }
  [[nodiscard]] dialer& dialing() noexcept { return dialer_; }
  /// Notes that a message was refused: on_room follows.
  void note_full() noexcept { was_full_ = true; }
  /// Makes room for the completion of the next message, so that await() cannot fail. Throws std::bad_alloc.
  void prepare_await() { awaited_.push_back({out_.last() + 1, {}}); }
  /// Calls `done` when the message added last is acknowledged. cancel_await(): no message was added.
  void await(completion done) noexcept { awaited_.back().done = std::move(done); }
  void cancel_await() noexcept { awaited_.pop_back(); }
  /// Keeps a message of another thread until the queue has room. Messages behind it must be kept as well.
  void park(bytes payload, completion done) { parked_.push_back({std::string(payload), std::move(done)}); }
  [[nodiscard]] bool has_parked() const noexcept { return !parked_.empty(); }

  // For the wires.
  [[nodiscard]] hello make_hello(bus_route route) const;
  /// Returns whether no peer of this link can have sent this hello.
  [[nodiscard]] bool contradicts(const hello& h) const noexcept;
  /// The peer's hello has arrived on `w`, which becomes the current wire: at once, or when its start has arrived.
  void establish(wire& w, const hello& h);
  /// The peer's next message on a new wire has this number, which is not 0.
  void start_at(wire& w, std::uint64_t number);
  /// Returns false if there was no such message.
  [[nodiscard]] bool acknowledged(std::uint64_t number);
  void lost(wire& w) noexcept;

  // For the dialer.
  /// Returns whether a connection of this route would be better than the present one.
  [[nodiscard]] bool wants(bus_route route) const noexcept;
  void set_pending(wire* w) noexcept { pending_ = w; }
  /// Gives up the connection whose hello was not answered.
  void abandon_pending() noexcept;

  [[nodiscard]] bool has_pending() const noexcept { return pending_ != nullptr; }
  void pin(std::optional<bus_route> route);
  /// Drops all messages; their completions get `why`. Calls on_room, if a message was refused.
  void fail_all(error_code why) noexcept;
  /// Sends what is parked, and calls on_room, if a message was refused and half of the queue is free.
  void use_room() noexcept;

 private:
  struct awaited_message {
    std::uint64_t number;
    completion done;
  };
  struct parked_message {
    std::string payload;
    completion done;
  };
  using callback = callback_timer<std::function<void()>>;

  void take_over(wire& w, const hello& h);
  void forget_predecessor(std::uint64_t epoch) noexcept;
  void replace_current(wire& w) noexcept;
  void continue_on(wire& w) noexcept;
  void send_parked() noexcept;
  void complete(std::uint64_t up_to, error_code why) noexcept;

  node& node_;
  const std::uint64_t id_;
  // The numbers of messages belong to the link, not to the process: a peer must notice when they begin anew.
  const std::uint64_t epoch_;
  send_queue out_;
  std::uint64_t received_ = 0, peer_epoch_ = 0;
  wire* current_ = nullptr;
  wire* retiring_ = nullptr;  // the one before, until the side that has replaced it closes it
  wire* pending_ = nullptr;   // waits for the answer to its hello
  wire* arriving_ = nullptr;  // accepted, and not current yet
  hello arrived_{};           // of arriving_
  std::deque<awaited_message> awaited_;
  std::deque<parked_message> parked_;
  std::optional<bus_route> pinned_, last_route_;
  bool peer_has_pinned_ = false, was_full_ = false;
  callback unreachable_;
  dialer dialer_;
};

}  // namespace quintet::bus
