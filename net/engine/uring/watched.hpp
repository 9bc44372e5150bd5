// SPDX-License-Identifier: BSL-1.0
// watched: a channel's entry in a ring: its requests in the kernel, and the actions that follow them.
#pragma once

#include "../closing_stream.hpp"
#include "../engine.hpp"
#include "buffers.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/slist.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace quintet::uring {

/// The purpose of a request: the low bits of its tag. The other bits are the address of its `watched`.
enum class request : std::uint8_t {
  receive,        ///< one at a time: a multishot one may miss the end
  send,           ///< one at a time
  hangup,         ///< multishot: polls a paused stream for errors
  writable,       ///< a send() has found no room, or a connect() is in progress
  accept,         ///< multishot; of a limited listener: a connection waits
  event,          ///< a descriptor is readable
  held,           ///< reports the connections that were accepted while accepting was stopped
  lost,           ///< reports a send whose result is unknown
  close_timeout,  ///< the time limit of a send after close()
  receive_retry,  ///< never in the kernel: receiving waits for free buffers
  wake,           ///< the engine's own, without a `watched`
  unwatched,      ///< the completion is ignored
};

/// [loop] The tags of completions point here, so the object outlives the channel's removal until the last completion.
/// Only then the engine closes the handle, so that the kernel does not reuse its number before.
struct alignas(16) watched : boost::intrusive::list_base_hook<> {
  channel* target = nullptr;  // nullptr: removed
  int handle = -1;
  std::uint16_t in_flight = 0;        // bits of the requests in the kernel, or about to be submitted
  std::uint16_t cancelled = 0;        // subset of in_flight: to be cancelled
  std::uint16_t deferred = 0;         // subset of in_flight: the ring had no room for the request
  std::uint16_t deferred_cancel = 0;  // subset of cancelled: the ring had no room for the cancellation
  std::uint16_t failures = 0;         // of accept, in a row
  bool busy = false;                  // a callback is in progress
  bool ended = false;                 // nothing more will be received
  bool reading = false;               // or accepting
  bool blocked = false;               // on_sendable() or on_connected() follows when the handle is writable
  bool shuts = false;                 // shut down the sending side after the send
  bool closes = false;                // close the handle after the last completion
  bool drops = false;                 // closing: drop bytes that the peer has no room for
  bool limited = false;               // a listener that must not accept ahead
  bool is_empty = false;              // the last receive has taken all that had arrived
  bool guarded = false;               // descriptors can arrive: polls and receives by passed_descriptors
  bool silent = false;                // the send completes only if the kernel does not accept all at once
  int slot = send_slots::none;        // holds the copy that is being sent
  std::uint32_t sent = 0, size = 0;
  closing_stream closing;          // `closes`: what the peer has taken since `close_timeout` began
  io_uring_sqe* unsent = nullptr;  // the send's request, valid while the ring reports `number` as unsubmitted
  std::uint64_t number = 0;
  std::vector<int> accepted;                             // handles accepted while accepting was stopped
  boost::intrusive::slist_member_hook<> later, starved;  // hooks of the engine's lists, which never allocate

  static std::uint16_t bit(request r) noexcept { return static_cast<std::uint16_t>(1U << static_cast<unsigned>(r)); }
  [[nodiscard]] bool has(request r) const noexcept { return in_flight & bit(r); }
  [[nodiscard]] bool wants_input() const noexcept { return reading && !ended; }
  /// Returns the request that a stream needs now.
  [[nodiscard]] request wanted_request() const noexcept { return wants_input() ? request::receive : request::hangup; }
  [[nodiscard]] std::uint64_t tag(request r) const noexcept {
    return reinterpret_cast<std::uintptr_t>(this) | static_cast<unsigned>(r);
  }
};

inline std::uint64_t tag_of_none(request r) noexcept { return static_cast<unsigned>(r); }
inline request request_of(const completion& c) noexcept { return static_cast<request>(c.tag & 15U); }
inline watched* watched_of(const completion& c) noexcept {
  return std::bit_cast<watched*>(static_cast<std::uintptr_t>(c.tag & ~std::uint64_t{15}));
}

}  // namespace quintet::uring
