// SPDX-License-Identifier: BSL-1.0
// node_context: what the parts of a node share: its options and counters, and what it tells its program.
#pragma once

#include "../../base/work/timer_queue.hpp"
#include "../../net/loop/event_loop.hpp"
#include "bus_options.hpp"
#include "mailbox.hpp"
#include "send_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>

namespace quintet::bus {

using callback = callback_timer<std::function<void()>>;

/// Stands below links and wires, which do not know the node. Functions without a tag: [loop].
class node_context {
 public:
  /// Throws config_error.
  explicit node_context(bus_options options);
  /// Before anything else.
  void set_loop(event_loop& loop) noexcept { loop_ = &loop; }

  /// [any thread]
  [[nodiscard]] const bus_options& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return options_.id; }
  [[nodiscard]] event_loop& loop() const noexcept { return *loop_; }
  [[nodiscard]] std::map<std::uint64_t, bus_route> routes() const;
  [[nodiscard]] std::optional<bus_route> route_of(std::uint64_t peer) const;

  [[nodiscard]] bus_figures<counter>& counters() noexcept { return counters_; }
  [[nodiscard]] mailbox& posted() noexcept { return posted_; }
  [[nodiscard]] chunk_store& chunks() noexcept { return chunks_; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
  /// The node has ended: the program gets no more messages, and no on_room.
  void end() noexcept { has_ended_ = true; }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

  /// Adds a message to the batch for on_messages, which deliver() calls.
  void add(const bus_message& m) {
    batch_[batch_size_++] = m;
    if (batch_size_ == batch_.size()) [[unlikely]]
      deliver();
  }
  /// Exceptions are those of on_messages.
  void deliver();
  /// There is a link to this peer from now on, or none. Throws std::bad_alloc.
  void add_peer(std::uint64_t peer);
  void remove_peer(std::uint64_t peer) noexcept;
  /// Needs no memory: a route that nobody hears of would stay unknown.
  void report_route(std::uint64_t peer, std::optional<bus_route> route) noexcept;
  void report_room(std::uint64_t peer) noexcept {
    if (options_.on_room && !has_ended_) guarded([&] { options_.on_room(peer); });
  }
  /// Logs why a connection of this peer was closed; 0: the peer is unknown.
  void report_failure(std::uint64_t peer, const char* what, error_code why) noexcept;
  /// `done` may be empty.
  void call(const completion& done, error_code why) noexcept {
    if (done) guarded([&] { done(why); });
  }
  /// There was no memory for a message of another thread.
  void refuse_for_memory(const completion& done) noexcept {
    counters_.refused.add();
    call(done, make_error_code(boost::system::errc::not_enough_memory));
  }

  /// Calls f(), and counts its exception.
  template <class F>
  void guarded(F f) noexcept {
    try {
      f();
    } catch (...) {
      loop_->counters().handler_errors.add();
    }
  }

 private:
  const bus_options options_;
  std::mt19937_64 random_;
  event_loop* loop_ = nullptr;  // the server's; valid while the server is being destroyed, too
  bool has_ended_ = false;
  bus_figures<counter> counters_;
  mailbox posted_;
  chunk_store chunks_;
  std::array<bus_message, 64> batch_{};
  std::size_t batch_size_ = 0;

  mutable std::mutex routes_mutex_;
  std::map<std::uint64_t, std::optional<bus_route>> routes_;  // of all peers
};

}  // namespace quintet::bus
