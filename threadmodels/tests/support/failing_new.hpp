// SPDX-License-Identifier: BSL-1.0
// failing_new: operator new that fails on a test's command. For one source file of a test program.
#pragma once

#include <quintet/base/build/sanitizers.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include <execinfo.h>

namespace quintet::test {

/// A call stack, innermost first.
struct call_stack {
  static constexpr int most = 32;
  std::array<void*, most> frames{};
  int depth = 0;

  [[gnu::noinline]] void capture() noexcept { depth = ::backtrace(frames.data(), most); }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    std::uint64_t h = 14695981039346656037U;
    for (int i = 0; i < depth; ++i)
      h = (h ^ reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)])) * 1099511628211U;
    return h;
  }
  [[nodiscard]] std::span<void* const> addresses() const noexcept {
    return {frames.data(), static_cast<std::size_t>(depth)};
  }
};

/// The places that allocate, each call stack once. May live in memory that processes share.
struct allocation_sites {
  static constexpr std::size_t most = 4096;
  std::array<call_stack, most> stacks;
  std::array<std::uint64_t, most> hashes{};
  std::size_t size = 0;
  std::size_t dropped = 0;  // allocations of further places, for which there was no room

  void add(const call_stack& stack) noexcept {
    const std::uint64_t hash = stack.hash();
    for (std::size_t i = 0; i < size; ++i)
      if (hashes[i] == hash) return;
    if (size == most) {
      ++dropped;
      return;
    }
    stacks[size] = stack;
    hashes[size++] = hash;
  }
};

/// Decides which allocations fail, for all threads that are not spared. A test arms it, runs a scenario and disarms it.
class failing_allocations {
 public:
  /// Fails nothing. Adds each place that allocates to `sites`.
  void record(allocation_sites& sites) noexcept {
    sites_ = &sites;
    arm_with(mode::record, 0, 0);
  }
  /// Fails the n-th allocation from now on, counted from 1, and the `burst - 1` allocations after it.
  void fail_number(std::uint64_t n, int burst) noexcept { arm_with(mode::number, n, burst); }
  /// Fails the first allocation from now on whose call stack has this hash, and the `burst - 1` allocations after it.
  void fail_site(std::uint64_t hash, int burst) noexcept { arm_with(mode::site, hash, burst); }
  /// A burst of all allocations until this time has passed since the first failure, or until disarm().
  static constexpr int lasting_burst = -1;
  static constexpr std::chrono::milliseconds shortage{3};
  void disarm() noexcept { mode_.store(mode::off); }

  /// Returns the number of allocations since it was armed.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(); }
  /// Returns whether an allocation has failed since it was armed; failed_at() returns its stack.
  [[nodiscard]] bool fired() const noexcept { return fired_.load(); }
  [[nodiscard]] const call_stack& failed_at() const noexcept { return failed_at_; }
  /// Stores that stack in `where` too, before the allocation fails. Ends when it is armed again.
  void report_to(call_stack* where) noexcept { report_to_ = where; }
  /// Returns the number of blocks allocated now, by all threads, spared or not.
  [[nodiscard]] std::int64_t blocks() const noexcept { return blocks_.load(); }

  /// Spares the calling thread while it lives: its allocations do not fail and are not counted. `false`: the opposite.
  class spare {
   public:
    explicit spare(bool on = true) noexcept : before_(spared) { spared = on; }
    ~spare() { spared = before_; }
    spare(const spare&) = delete;
    spare& operator=(const spare&) = delete;

   private:
    bool before_;
  };
  /// Spares the calling thread from now on, or not. Returns the previous value.
  static bool set_spared(bool on) noexcept { return std::exchange(spared, on); }

  /// For operator new: returns whether the allocation must fail.
  [[nodiscard]] bool fails() noexcept {
    if (spared || mode_.load(std::memory_order_relaxed) == mode::off) return false;
    const spare while_looking;
    return look();
  }
  void allocated() noexcept { blocks_.fetch_add(1, std::memory_order_relaxed); }
  void freed() noexcept { blocks_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  enum class mode { off, record, number, site };

  void arm_with(mode how, std::uint64_t target, int burst) noexcept {
    mode_.store(mode::off);
    count_ = 0;
    fired_ = false;
    failed_at_.depth = 0;
    report_to_ = nullptr;
    target_ = target;
    burst_ = burst;
    more_ = 0;
    mode_.store(how);
  }
  bool look() noexcept {
    const std::uint64_t number = count_.fetch_add(1) + 1;
    if (fired_.load()) {
      if (burst_ != lasting_burst) return more_.fetch_sub(1) > 0;
      return std::chrono::steady_clock::now() < ends_.load();
    }
    const mode how = mode_.load();
    if (how == mode::number && number != target_) return false;
    call_stack here;
    here.capture();
    const std::lock_guard lock(mutex_);
    if (how == mode::record) sites_->add(here);
    if (how == mode::record || (how == mode::site && here.hash() != target_) || fired_) return false;
    failed_at_ = here;
    if (report_to_) *report_to_ = here;
    more_ = burst_ - 1;
    ends_ = std::chrono::steady_clock::now() + shortage;
    fired_ = true;
    return true;
  }

  static inline thread_local bool spared = false;
  std::atomic<mode> mode_{mode::off};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::int64_t> blocks_{0};
  std::atomic<bool> fired_{false};
  std::atomic<int> more_{0};
  std::atomic<std::chrono::steady_clock::time_point> ends_{};
  std::uint64_t target_ = 0;
  int burst_ = 1;
  allocation_sites* sites_ = nullptr;
  std::mutex mutex_;
  call_stack failed_at_;
  call_stack* report_to_ = nullptr;
};

inline constinit failing_allocations allocations;

namespace detail {

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (allocations.fails()) return nullptr;
  void* memory = nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    memory = std::malloc(size == 0 ? 1 : size);
  else if (::posix_memalign(&memory, alignment, size == 0 ? 1 : size) != 0)
    memory = nullptr;
  if (memory) allocations.allocated();
  return memory;
}
inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}
inline void release(void* memory) noexcept {
  if (!memory) return;
  allocations.freed();
  std::free(memory);
}

}  // namespace detail
}  // namespace quintet::test

#if !QUINTET_THREAD_SANITIZER  // which has an operator new of its own: nothing fails there
// Not inlined: the compiler would see new and free as a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) { return quintet::test::detail::allocate_or_throw(size, 0); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return quintet::test::detail::allocate_or_throw(size, 0); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return quintet::test::detail::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment) {
  return quintet::test::detail::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return quintet::test::detail::allocate(size, 0);
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return quintet::test::detail::allocate(size, 0);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return quintet::test::detail::allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return quintet::test::detail::allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { quintet::test::detail::release(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { quintet::test::detail::release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { quintet::test::detail::release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { quintet::test::detail::release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  quintet::test::detail::release(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  quintet::test::detail::release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  quintet::test::detail::release(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  quintet::test::detail::release(memory);
}

/// Asio allocates its frames and the rings their buffers with it.
extern "C" [[gnu::noinline]] void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (quintet::test::allocations.fails()) return nullptr;
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}
#endif
