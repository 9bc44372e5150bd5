// SPDX-License-Identifier: BSL-1.0
// watched: a channel's place in a ring: which requests the kernel has for it, and what is to follow them.
#pragma once

#include "../engine.hpp"
#include "buffers.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/slist.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace quintet::uring {

/// What a request is for: the low bits of its tag. The rest is the watched that it belongs to.
enum class request : std::uint8_t {
  receive,    ///< multishot
  send,       ///< one at a time
  hangup,     ///< multishot: of a stream that is not read from
  writable,   ///< a send() has found no room, or a connect() is under way
  accept,     ///< multishot
  event,      ///< a descriptor is readable
  held,       ///< connections that were accepted while accepting was stopped are to be told
  lost,       ///< nobody knows what a send has done
  patience,   ///< a time limit: after close(), for what is being sent
  again,      ///< not the kernel's: receiving waits until there are buffers
  wake,       ///< of the engine itself
  unwatched,  ///< nobody waits for it
};

/// The kernel's completions name it, so it outlives the channel's removal until none is to come any more; and the
/// handle is closed after that, so that its number means nothing else meanwhile.
struct alignas(16) watched : boost::intrusive::list_base_hook<> {
  channel* of = nullptr;  // nullptr: removed
  int handle = -1;
  std::uint16_t under_way = 0;       // a bit for each request that the kernel has, or is about to get
  std::uint16_t cancelled = 0;       // of these, the ones that are to end
  std::uint16_t put_off = 0;         // of these, the ones that the ring had no room for
  std::uint16_t put_off_cancel = 0;  // of the cancelled ones, those whose cancelling it had no room for
  std::uint16_t failures = 0;        // of accept, in a row
  bool busy = false;                 // a callback is under way
  bool ended = false;                // nothing more will be received
  bool reading = false;              // or accepting
  bool blocked = false;              // on_sendable() is due when there is room
  bool shuts = false;                // the peer is to be told that nothing more comes, after what is being sent
  bool closes = false;               // the handle is to be closed, after everything
  bool drops = false;                // but for what the peer has no room for
  bool silent = false;               // the send completes only if it is not all taken at once
  int slot = send_slots::none;       // what is being sent: a copy
  std::uint32_t sent = 0, size = 0;
  int queued = 0;                  // in the kernel, for the peer to take, when `patience` began
  io_uring_sqe* unsent = nullptr;  // the send's request, as long as the ring says that `number` is unsubmitted
  std::uint64_t number = 0;
  std::vector<int> accepted;                             // while accepting was stopped
  boost::intrusive::slist_member_hook<> later, starved;  // places in the engine's lists, which never allocate

  static std::uint16_t bit(request r) noexcept { return static_cast<std::uint16_t>(1U << static_cast<unsigned>(r)); }
  [[nodiscard]] bool has(request r) const noexcept { return under_way & bit(r); }
  [[nodiscard]] bool wants_input() const noexcept { return reading && !ended; }
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
