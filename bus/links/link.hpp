// SPDX-License-Identifier: BSL-1.0
// link: a node's messages to and from one peer. It outlives the connections that carry them.
#pragma once

#include "../messages/frames.hpp"
#include "../wires/wire_factory.hpp"
#include "dialer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quintet::bus {

class link;

/// The node of a link. It outlives the link.
class link_user {
 public:
  /// The link has had no connection for unreachable_after. Must not destroy it at once.
  virtual void unreachable(link& l) = 0;
  /// Delivers, forwards or drops a routed message. `body` has `r` at its front.
  virtual void routed(link& from, const frame_header& h, const routing& r, bytes body) = 0;

 protected:
  ~link_user() = default;
};

/// All functions: [loop]. The previous wire may still deliver messages.
class link final : public wire_user, private dialer_user {
 public:
  link(node_context& node, wire_factory& wires, link_user& user, std::uint64_t id);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  [[nodiscard]] bool is_connected() const noexcept { return current_ != nullptr; }
  [[nodiscard]] bool has_pending() const noexcept { return pending_ != nullptr; }
  [[nodiscard]] bool is_dialing() const noexcept { return dialer_.is_on(); }

  /// Connects from now on, by these candidates.
  void connect(std::vector<candidate> all) { dialer_.use(std::move(all)); }
  void stop_dialing() noexcept { dialer_.stop(); }
  void pin(std::optional<bus_route> route) noexcept {
    pinned_ = route;
    dialer_.prefer(route);
  }

  /// Appends a frame to the queue: `before` and `payload` are its body. Throws std::bad_alloc without effect.
  error_code append(frame_header h, bytes before, bytes payload);
  /// Sends a message. `done` is moved from only if the result is no error.
  error_code send(bytes payload, completion& done);
  /// Sends a message of the mailbox. Returns false if it waits here for room, with those behind it.
  [[nodiscard]] bool send_posted(bytes payload, completion& done);
  /// Notes that a message was refused: on_room follows.
  void note_full() noexcept { was_full_ = true; }
  /// Sends the posted messages that wait, and calls on_room, if a message was refused and half of the queue is free.
  void use_room() noexcept;
  /// Drops all messages; their completions get `why`. Calls on_room, if a message was refused.
  void fail_all(error_code why) noexcept;

 private:
  struct awaited_message {
    std::uint64_t number;
    completion done;
  };
  struct parked_message {
    std::string payload;
    completion done;
  };
  // Calls of wires.
  [[nodiscard]] hello make_hello(bus_route route) const noexcept override;
  void on_hello(wire& w, const hello& h) override;
  void on_start(wire& w, std::uint64_t number) override;
  [[nodiscard]] bool acknowledged(std::uint64_t number) override;
  void routed(const frame_header& h, const routing& r, bytes body) override { user_.routed(*this, h, r, body); }
  void on_lost(wire& w) noexcept override;

  // Calls of the dialer.
  [[nodiscard]] bool wants(bus_route route) const noexcept override;
  [[nodiscard]] bool connect_in_process() override { return wires_.connect_in_process(*this, pending_); }
  void attach(stream_handle&& s, bus_route route) override { wires_.attach(*this, std::move(s), route, pending_); }
  void abandon_pending() noexcept override;

  void take_over(wire& w, const hello& h);
  void forget_predecessor(std::uint64_t epoch) noexcept;
  void replace_current(wire& w) noexcept;
  void continue_on(wire& w) noexcept;
  void send_parked() noexcept;
  void complete(std::uint64_t up_to, error_code why) noexcept;

  node_context& node_;
  wire_factory& wires_;
  link_user& user_;
  std::uint64_t peer_epoch_ = 0;
  wire* retiring_ = nullptr;  // the one before the current, until the side that has replaced it closes it
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

// Inlined by force: a small message takes 40 instructions less of 470 (callgrind, a sender over shared memory).
[[gnu::always_inline]] inline error_code link::append(frame_header h, bytes before, bytes payload) {
  const std::size_t body = before.size() + payload.size(), size = prefix_size + header_size + body;
  char* const place = out_.reserve(size);
  if (!place) [[unlikely]] {
    was_full_ = true;
    return errc::output_full;
  }
  char* const at = place + prefix_size + header_size;
  if (!before.empty()) std::memcpy(at, before.data(), before.size());
  std::memcpy(at + before.size(), payload.data(), payload.size());
  h.sequence = static_cast<std::uint32_t>(out_.last() + 1);
  seal(place, h, body);
  if (current_) current_->request_flush();  // may throw, so it comes before the effect
  out_.commit(size);
  return {};
}

}  // namespace quintet::bus
