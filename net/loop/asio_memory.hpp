// SPDX-License-Identifier: BSL-1.0
// asio_memory: lets Asio recycle the memory of its operations and coroutines where a loop calls their handlers.
#pragma once

#include <boost/asio/detail/thread_context.hpp>
#include <boost/asio/detail/thread_info_base.hpp>
#include <boost/asio/version.hpp>

namespace quintet {

class event_loop;

/// Asio recycles blocks within the run functions of its contexts only, and a loop runs outside of them. A scope says
/// that this thread is in one. That is Asio's own interior: only with the versions whose interior is known, and a
/// program that uses another one allocates each time. One for each loop.
class asio_memory : private boost::asio::detail::thread_context {
 public:
  explicit asio_memory(event_loop&) noexcept {}
  asio_memory(const asio_memory&) = delete;
  asio_memory& operator=(const asio_memory&) = delete;

#if BOOST_ASIO_VERSION >= 102600 && BOOST_ASIO_VERSION < 103500  // Boost 1.81 to 1.88
  class scope {
   public:
    /// [loop]
    explicit scope(asio_memory& of) noexcept : here_(&of, of.blocks_) {}

   private:
    thread_call_stack::context here_;
  };

 private:
  boost::asio::detail::thread_info_base blocks_;
#else
  class scope {
   public:
    explicit scope(asio_memory&) noexcept {}
    ~scope() {}
  };
#endif
};

}  // namespace quintet
