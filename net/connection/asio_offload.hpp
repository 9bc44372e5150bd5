// SPDX-License-Identifier: BSL-1.0
// asio_offload: a function of asio_stream::async_offload() on its way to the pool and back.
#pragma once

#include "../loop/executor.hpp"
#include "asio_operation.hpp"
#include "asio_port.hpp"

#include <exception>
#include <type_traits>
#include <utility>

namespace quintet::detail {

/// `Result`: what F returns, decayed. In case of an exception it is default-constructed.
template <class F, class Result>
class asio_offload {
  struct nothing {};
  static constexpr bool is_void = std::is_void_v<Result>;
  using stored = std::conditional_t<is_void, nothing, Result>;

 public:
  using signature = typename std::conditional_t<is_void, std::type_identity<void(std::exception_ptr)>,
                                                std::type_identity<void(std::exception_ptr, stored)>>::type;

  /// [loop] Throws std::bad_alloc.
  template <class Handler>
  static void begin(asio_port& port, F f, Handler handler) {
    auto* const made = new item<Handler>(port, std::move(f), std::move(handler));
    port.add_user();
    port.send_taken();  // a model without a pool runs the function now
    port.offload(*made);
  }

 private:
  template <class Handler>
  class item final : public work_item {
   public:
    item(asio_port& port, F f, Handler&& handler)
        : work_item(&item::compute),
          port_(port),
          function_(std::move(f)),
          work_(track_executor_of(handler, port.loop())),
          handler_(std::move(handler)) {}

   private:
    // An executor would keep an exception of the handler from the port.
    void complete() {
      if constexpr (is_void)
        call_where_it_belongs(port_.loop(), std::move(handler_), thrown_);
      else
        call_where_it_belongs(port_.loop(), std::move(handler_), thrown_, std::move(result_));
    }
    // A model without a pool calls it within the function that begins the operation.
    static void compute(work_item& i) noexcept {
      auto& self = static_cast<item&>(i);
      self.run();
      self.become(&item::finish);
      event_loop& loop = self.port_.loop();
      loop.in_this_thread() ? loop.run_soon(self) : loop.post(i);
    }
    void run() noexcept try {
      if constexpr (is_void)
        function_();
      else
        result_ = function_();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    static void finish(work_item& i) noexcept {
      auto* const self = static_cast<item*>(&i);
      asio_port& port = self->port_;
      try {
        self->complete();
      } catch (...) {  // also where no memory is left to pass the handler to its executor
        port.completion_threw();
      }
      delete self;
      port.remove_user();
    }

    asio_port& port_;
    F function_;
    tracking_executor_of<Handler> work_;
    Handler handler_;
    std::exception_ptr thrown_;
    [[no_unique_address]] stored result_{};
  };
};

}  // namespace quintet::detail
