// SPDX-License-Identifier: BSL-1.0
// awaitable: the library's coroutine type: lazily started, resumed by its awaiter, its frame recycled per thread.
#pragma once

#include "../../base/memory/frame_cache.hpp"

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace quintet {

class coroutine_host;
template <class T = void>
class awaitable;

/// Defines `co_await x` for types without an own awaiter. <quintet/net/asio.hpp> specialises it for Asio's operations.
/// A specialisation has `static auto adapt(Operation&&, coroutine_host&)`, which returns an awaiter.
template <class Operation>
struct await_adapter;

template <class Operation>
concept needs_await_adapter = requires(Operation&& op, coroutine_host& host) {
  await_adapter<std::remove_cvref_t<Operation>>::adapt(std::forward<Operation>(op), host);
};

namespace detail {

/// Base of all promises: the frame's memory, the awaiter, and the host of the chain.
class promise_base {
 public:
  static void* operator new(std::size_t size) { return frame_cache::allocate(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { frame_cache::release(frame, size); }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  struct resume_awaiter {
    static constexpr bool await_ready() noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> done) const noexcept {
      const promise_base& p = done.promise();
      return p.starting_ ? std::noop_coroutine() : p.waiting_;
    }
    void await_resume() const noexcept {}
  };
  resume_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  template <class X>
  decltype(auto) await_transform(X&& x) {
    if constexpr (needs_await_adapter<X>) {
      return await_adapter<std::remove_cvref_t<X>>::adapt(std::forward<X>(x), *host_);
    } else {
      return std::forward<X>(x);
    }
  }

  void begin(coroutine_host* host, std::coroutine_handle<> waiting) noexcept {
    host_ = host;
    waiting_ = waiting;
    starting_ = true;
  }
  void has_started() noexcept { starting_ = false; }
  [[nodiscard]] coroutine_host* host() const noexcept { return host_; }

 protected:
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  coroutine_host* host_ = nullptr;
  std::coroutine_handle<> waiting_ = std::noop_coroutine();
  bool starting_ = false;  // the awaiter is still on the stack, and continues by itself if this coroutine ends at once
  std::exception_ptr error_;
};

template <class T>
class promise final : public promise_base {
 public:
  awaitable<T> get_return_object() noexcept;
  template <std::convertible_to<T> U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T result() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class promise<void> final : public promise_base {
 public:
  awaitable<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void result() const { rethrow(); }
};

}  // namespace detail

/// A lazy coroutine: it runs on the thread that awaits it, and resumes its awaiter at its end. Owns its frame. Await it
/// once. Not synchronised: everything happens on one loop's thread.
template <class T>
class [[nodiscard]] awaitable {
 public:
  /// For the compiler: the promise of the coroutine, and its handle.
  using promise_type = detail::promise<T>;
  using handle_type = std::coroutine_handle<promise_type>;

  awaitable() noexcept = default;
  /// Takes the ownership of a coroutine that has not started.
  explicit awaitable(handle_type frame) noexcept : frame_(frame) {}
  awaitable(awaitable&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  awaitable& operator=(awaitable&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~awaitable() {
    if (frame_) frame_.destroy();
  }

  class awaiter {
   public:
    explicit awaiter(handle_type frame) noexcept : frame_(frame) {}
    static constexpr bool await_ready() noexcept { return false; }
    // No symmetric transfer: compilers need not make a tail call of it (g++ at -O0 or with AddressSanitizer). A loop
    // that awaits short coroutines would then grow the stack in each round.
    template <class P>
    bool await_suspend(std::coroutine_handle<P> waiting) const noexcept {
      promise_type& started = frame_.promise();
      started.begin(waiting.promise().host(), waiting);
      frame_.resume();
      started.has_started();
      return !frame_.done();
    }
    T await_resume() const { return frame_.promise().result(); }

   private:
    handle_type frame_;
  };
  /// Starts the coroutine, and returns its result, or throws its exception.
  awaiter operator co_await() && noexcept { return awaiter(frame_); }

  /// Starts the coroutine as the root of a chain, on behalf of `host`, which must outlive it. Its end resumes `done`.
  void start(coroutine_host& host, std::coroutine_handle<> done = std::noop_coroutine()) {
    frame_.promise().begin(&host, done);
    frame_.promise().has_started();
    frame_.resume();
  }

 private:
  handle_type frame_;
};

template <class T>
awaitable<T> detail::promise<T>::get_return_object() noexcept {
  return awaitable<T>(std::coroutine_handle<promise>::from_promise(*this));
}
inline awaitable<void> detail::promise<void>::get_return_object() noexcept {
  return awaitable<void>(std::coroutine_handle<promise>::from_promise(*this));
}

}  // namespace quintet
