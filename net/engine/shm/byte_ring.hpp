// SPDX-License-Identifier: BSL-1.0
// byte_ring: a stream of bytes from one process to another through shared memory, without system calls
// (basic_ring_producer, basic_ring_consumer).
#pragma once

#include "../../../base/encoding/integers.hpp"
#include "../../../base/memory/byte_buffer.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace quintet::shm {

/// How the producer has ended its stream.
enum class stream_end : std::uint32_t {
  none,
  finished,  ///< after the last byte
  reset,     ///< output was dropped
};

/// The atomics of a ring. The ring is a template of them so that a model checker can run this code with its own
/// (net/tests/model_checking).
struct ring_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  static void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
};

/// The shared positions of a ring, in bytes since its beginning. Each line of 128 bytes has one writer, since a CPU
/// fetches lines in pairs. Zeroed memory is an empty ring.
template <class Atomics>
struct basic_ring_control {
  static constexpr std::size_t line = 128;
  template <class T>
  using atomic = typename Atomics::template atomic<T>;
  alignas(line) atomic<std::uint64_t> produced;  // by the producer
  atomic<stream_end> end;
  alignas(line) atomic<std::uint64_t> consumed;         // by the consumer
  alignas(line) atomic<std::uint32_t> consumer_sleeps;  // set by the consumer, cleared by the producer
  alignas(line) atomic<std::uint32_t> producer_waits;   // set by the producer, cleared by the consumer
};
using ring_control = basic_ring_control<ring_atomics>;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<stream_end>::is_always_lock_free);

/// Copies as memcpy does. glibc before 2.39 takes `rep movsb` from 2 KiB on, which on AMD's Zen 3 and 4 copies 3 GB/s,
/// not 50, if `to` is 1 to 15 bytes behind `from` in a page. Receives of one size keep such a distance: pieces cost the
/// receiver of a bus 37 % less for messages of 8 B to 16 KiB.
inline void copy_in_pieces(char* to, const char* from, std::size_t size) noexcept {
  constexpr std::size_t page = 4096, piece = 2048;
  const bool is_slow = (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % page - 1 < 15;
  for (; is_slow && size > piece; to += piece, from += piece, size -= piece) std::memcpy(to, from, piece);
  std::memcpy(to, from, size);
}

/// The part that a producer and a consumer share: their own position, and the peer's as last read. The peer may write
/// anything to the ring at any time. So a position of the peer is read once and compared before it is used, and nothing
/// else of the shared memory is an index or a size.
template <class Atomics>
class basic_ring_side {
 public:
  using control = basic_ring_control<Atomics>;
  /// Whether the peer has written an impossible position. Then nothing more moves.
  [[nodiscard]] bool is_corrupt() const noexcept { return corrupt_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.size(); }

 protected:
  basic_ring_side() noexcept = default;
  /// `memory` has a size that is a power of two. Both must outlive this object.
  basic_ring_side(control& shared, std::span<char> memory) noexcept : shared_(&shared), memory_(memory) {}
  /// Copies `count` bytes at `position` in at most two pieces.
  template <class Copy>
  void copy_at(std::uint64_t position, std::size_t count, Copy copy) const noexcept {
    const std::size_t at = index(position), first = std::min(count, memory_.size() - at);
    copy(memory_.data() + at, std::size_t{0}, first);
    if (first < count) copy(memory_.data(), first, count - first);
  }
  [[nodiscard]] std::size_t index(std::uint64_t position) const noexcept {
    return as_size(position) & (memory_.size() - 1);
  }
  /// Sets a flag for the peer, before the caller checks the ring a last time. The peer works in the opposite order:
  /// it moves its position, then takes the flag. So at least one of the two sees the other (Dekker).
  template <class Flag>
  static void raise(Flag& flag) noexcept {
    flag.store(1, std::memory_order_relaxed);
    Atomics::fence();
  }
  /// Takes the peer's flag after a position has moved. Returns whether it was set: then the peer must be woken.
  template <class Flag>
  [[nodiscard]] static bool take(Flag& flag) noexcept {
    Atomics::fence();
    return flag.load(std::memory_order_relaxed) != 0 && flag.exchange(0, std::memory_order_relaxed) != 0;
  }

  control* shared_ = nullptr;
  std::span<char> memory_;
  std::uint64_t own_ = 0, peer_ = 0;
  bool corrupt_ = false;
};

/// The only producer of a ring. Bytes become visible to the consumer when they are committed: what a dead process had
/// not committed never existed.
template <class Atomics>
class basic_ring_producer : public basic_ring_side<Atomics> {
  using side = basic_ring_side<Atomics>;
  using side::copy_at, side::index, side::raise, side::take;
  using side::corrupt_, side::memory_, side::own_, side::peer_, side::shared_;

 public:
  using side::capacity, side::is_corrupt;
  basic_ring_producer() noexcept = default;
  basic_ring_producer(typename side::control& shared, std::span<char> memory) noexcept : side(shared, memory) {}

  /// Returns how many bytes fit. Reads the consumer's position only if fewer than `wanted` are known to fit.
  [[nodiscard]] std::size_t room(std::size_t wanted) noexcept {
    if (known_room() < wanted) refresh();
    return known_room();
  }
  /// Returns how many published bytes the consumer has not released.
  [[nodiscard]] std::size_t unread() noexcept { return capacity() - room(capacity()); }
  /// Returns the free space up to the end of the ring's memory, for the caller to fill from its front.
  [[nodiscard]] std::span<char> reserve(std::size_t wanted) noexcept {
    const std::size_t at = index(own_);
    return memory_.subspan(at, std::min(room(wanted), memory_.size() - at));
  }
  /// Publishes `count` bytes of the space that reserve() returned. Returns whether the consumer must be woken.
  [[nodiscard]] bool commit(std::size_t count) noexcept {
    own_ += count;
    shared_->produced.store(own_, std::memory_order_release);
    return take(shared_->consumer_sleeps);
  }
  /// Copies as many bytes as fit. Call commit() with the sum of the results of several calls.
  [[nodiscard]] std::size_t copy_in(std::size_t behind, bytes data) noexcept {
    const std::size_t free = room(behind + data.size());
    const std::size_t count = std::min(data.size(), free - std::min(behind, free));
    copy_at(own_ + behind, count,
            [data](char* place, std::size_t from, std::size_t n) noexcept { copy_bytes(place, data.substr(from, n)); });
    return count;
  }
  /// Ends the stream; a reset also replaces an orderly end. Returns whether the consumer must be woken.
  [[nodiscard]] bool finish(stream_end how) noexcept {
    shared_->end.store(how, std::memory_order_release);
    return take(shared_->consumer_sleeps);
  }
  /// Asks the consumer to wake this side when it has made room. Returns false if there is room already, or never will
  /// be: the ring is corrupt.
  [[nodiscard]] bool wait_for_room() noexcept {
    waits_ = true;
    raise(shared_->producer_waits);
    return room(capacity()) == 0 && !is_corrupt();
  }
  /// Repeats the request of a caller that waits and was woken: the consumer may have taken the request when it made
  /// room that this side had seen before, or without making any. The caller then makes a fence, and does not sleep if
  /// has_news() is true.
  void announce_wait() noexcept {
    if (waits_) shared_->producer_waits.store(1, std::memory_order_relaxed);
  }
  /// Ends the wait for room if there is some, or never will be. Returns whether it has ended now.
  [[nodiscard]] bool end_wait() noexcept {
    if (!waits_ || !has_news()) return false;
    waits_ = false;
    return true;
  }
  /// Ends the wait for a consumer that has ended.
  [[nodiscard]] bool cancel_wait() noexcept { return std::exchange(waits_, false); }
  [[nodiscard]] bool waits() const noexcept { return waits_; }
  /// Whether a caller that waits for room must try again: there is room, or the ring is corrupt.
  [[nodiscard]] bool has_news() noexcept { return room(1) > 0 || is_corrupt(); }

 private:
  [[nodiscard]] std::size_t known_room() const noexcept {
    return corrupt_ ? 0 : memory_.size() - as_size(own_ - peer_);
  }
  void refresh() noexcept {
    const std::uint64_t consumed = shared_->consumed.load(std::memory_order_acquire);
    if (own_ - consumed > memory_.size())
      corrupt_ = true;
    else
      peer_ = consumed;
  }

  bool waits_ = false;
};
using ring_producer = basic_ring_producer<ring_atomics>;

/// The only consumer of a ring.
template <class Atomics>
class basic_ring_consumer : public basic_ring_side<Atomics> {
  using side = basic_ring_side<Atomics>;
  using side::copy_at, side::index, side::raise, side::take;
  using side::corrupt_, side::memory_, side::own_, side::peer_, side::shared_;

 public:
  using side::capacity, side::is_corrupt;
  basic_ring_consumer() noexcept = default;
  basic_ring_consumer(typename side::control& shared, std::span<char> memory) noexcept : side(shared, memory) {}

  /// Returns how many bytes wait. Reads the producer's position only if fewer than `wanted` are known to wait.
  [[nodiscard]] std::size_t available(std::size_t wanted = 1) noexcept {
    if (known() < wanted) refresh();
    return known();
  }
  /// Returns waiting bytes up to the end of the ring's memory, in place. The producer can still change them. A caller
  /// that does not trust it copies them first: copy_out().
  [[nodiscard]] bytes peek(std::size_t wanted = 1) noexcept {
    const std::size_t at = index(own_);
    return {memory_.data() + at, std::min(available(wanted), memory_.size() - at)};
  }
  /// Copies at most `place.size()` waiting bytes, which stay in the ring until release().
  [[nodiscard]] std::size_t copy_out(std::span<char> place) noexcept {
    const std::size_t count = std::min(available(place.size()), place.size());
    copy_at(own_, count, [place](const char* from, std::size_t to, std::size_t n) noexcept {
      copy_in_pieces(place.data() + to, from, n);
    });
    return count;
  }
  /// Returns how many bytes wait.
  [[nodiscard]] std::size_t unread() noexcept { return available(memory_.size()); }
  /// Frees the first `count` waiting bytes. Returns whether the producer must be woken.
  [[nodiscard]] bool release(std::size_t count) noexcept {
    if (count == 0) return false;  // no room was made
    own_ += count;
    shared_->consumed.store(own_, std::memory_order_release);
    return take(shared_->producer_waits);
  }
  /// Returns how the producer has ended the stream. Read it before available(), which then includes the last byte.
  [[nodiscard]] stream_end producer_end() const noexcept {
    const stream_end how = shared_->end.load(std::memory_order_acquire);
    return how == stream_end::none || how == stream_end::finished ? how : stream_end::reset;
  }
  /// Asks the producer to wake this side. Returns false if there is something to see already.
  [[nodiscard]] bool sleep() noexcept {
    announce_sleep();
    Atomics::fence();
    if (!has_news()) return true;
    stay_awake();
    return false;
  }
  /// The steps of sleep(), so that many rings share the fence between the first and the second.
  void announce_sleep() noexcept { shared_->consumer_sleeps.store(1, std::memory_order_relaxed); }
  [[nodiscard]] bool has_news() noexcept { return producer_end() != stream_end::none || available() > 0 || corrupt_; }
  void stay_awake() noexcept { shared_->consumer_sleeps.store(0, std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::size_t known() const noexcept { return corrupt_ ? 0 : as_size(peer_ - own_); }
  void refresh() noexcept {
    const std::uint64_t produced = shared_->produced.load(std::memory_order_acquire);
    if (produced - own_ > memory_.size())
      corrupt_ = true;
    else
      peer_ = produced;
  }
};
using ring_consumer = basic_ring_consumer<ring_atomics>;

}  // namespace quintet::shm
