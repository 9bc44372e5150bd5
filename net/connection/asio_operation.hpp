// SPDX-License-Identifier: BSL-1.0
// asio_operation: the completion handlers of asio_stream's operations: where they wait, and how they are called.
#pragma once

#include "../loop/executor.hpp"
#include "asio_port.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace quintet::detail {

/// Returns the error by which Asio's users know the end.
inline error_code for_asio(const error_code& why) noexcept {
  return why == errc::end_of_stream ? error_code(boost::asio::error::eof) : why;
}

/// A completion handler that waits in a port_operation, or, if it is too large, in memory of its allocator.
template <class Handler>
class waiting_handler {
 public:
  /// [loop] Begins an operation, unless another one is in progress. Throws std::bad_alloc.
  template <class Operation, class Buffers>
  static void begin(asio_port& port, Operation& op, Handler&& handler, const Buffers& buffers) {
    if (op.by) return refuse(port, std::move(handler));
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    waiting_handler* const made = make(port, op, std::move(handler));
    if (slot.is_connected()) {
      try {
        slot.template emplace<canceller>(port, op);
      } catch (...) {
        destroy(made);
        throw;
      }
    }
    op.is_cancelled = false;
    set_pieces(op, buffers);
    op.by = &functions;
    port.begun();
  }

 private:
  using executor_type = boost::asio::associated_executor_t<Handler, loop_executor>;
  using allocator_type = typename std::allocator_traits<boost::asio::associated_allocator_t<
      Handler, boost::asio::recycling_allocator<void>>>::template rebind_alloc<waiting_handler>;
  struct canceller {
    canceller(asio_port& p, port_operation& o) noexcept : port(p), op(o) {}
    void operator()(boost::asio::cancellation_type type) const noexcept {
      if (type != boost::asio::cancellation_type::none) port.cancel(op);
    }
    asio_port& port;
    port_operation& op;
  };

  waiting_handler(asio_port& port, Handler&& handler) : handler_(std::move(handler)) {
    const executor_type executor = boost::asio::get_associated_executor(handler_, loop_executor(port.loop()));
    if (!runs_on(executor, port.loop())) [[unlikely]]
      elsewhere_.emplace(boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked));
  }
  static constexpr bool is_small() {
    return sizeof(waiting_handler) <= port_operation::room && alignof(waiting_handler) <= alignof(std::max_align_t);
  }
  static waiting_handler* make(asio_port& port, port_operation& op, Handler&& handler) {
    if constexpr (is_small()) {
      return new (op.handler.data()) waiting_handler(port, std::move(handler));
    } else {
      allocator_type from(boost::asio::get_associated_allocator(handler, boost::asio::recycling_allocator<void>()));
      waiting_handler* const place = std::allocator_traits<allocator_type>::allocate(from, 1);
      try {
        new (place) waiting_handler(port, std::move(handler));
      } catch (...) {
        std::allocator_traits<allocator_type>::deallocate(from, place, 1);
        throw;
      }
      return *new (op.handler.data()) waiting_handler*(place);
    }
  }
  static waiting_handler* in(port_operation& op) noexcept {
    if constexpr (is_small())
      return std::launder(reinterpret_cast<waiting_handler*>(op.handler.data()));
    else
      return *std::launder(reinterpret_cast<waiting_handler**>(op.handler.data()));
  }
  static void destroy(waiting_handler* waiting) noexcept {
    if constexpr (is_small()) {
      waiting->~waiting_handler();
    } else {
      allocator_type from(
          boost::asio::get_associated_allocator(waiting->handler_, boost::asio::recycling_allocator<void>()));
      waiting->~waiting_handler();
      std::allocator_traits<allocator_type>::deallocate(from, waiting, 1);
    }
  }

  // The slot is cleared before the call: the handler may use it for its next operation.
  static void complete(asio_port&, port_operation& op, const error_code& why, std::size_t count) {
    waiting_handler* const waiting = in(op);
    Handler handler(std::move(waiting->handler_));
    const std::optional<tracking_executor<executor_type>> elsewhere = std::move(waiting->elsewhere_);
    destroy(waiting);
    op.by = nullptr;
    if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
    const error_code told = why ? for_asio(why) : error_code();
    if (!elsewhere) [[likely]]
      return std::move(handler)(told, count);
    boost::asio::dispatch(*elsewhere, boost::asio::append(std::move(handler), told, count));
  }
  static void drop(port_operation& op) noexcept { destroy(in(op)); }

  static void refuse(asio_port& port, Handler&& handler) {
    boost::asio::post(
        loop_executor(port.loop()),
        boost::asio::append(std::move(handler), error_code(boost::asio::error::already_started), std::size_t{0}));
  }

  template <class Piece, class Buffers>
  static void set_pieces(port_operation_on<Piece>& op, const Buffers& buffers) noexcept {
    using element = std::remove_reference_t<decltype(*std::declval<Piece&>().data())>;
    using buffer = std::conditional_t<std::is_const_v<element>, boost::asio::const_buffer, boost::asio::mutable_buffer>;
    op.count = 0;
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto next = boost::asio::buffer_sequence_begin(buffers); next != end; ++next) {
      const buffer piece(*next);
      if (piece.size() == 0) continue;
      op.pieces[op.count++] = Piece(static_cast<element*>(piece.data()), piece.size());
      if (op.count == port_operation::most_pieces) return;
    }
  }

  static constexpr port_operation::functions functions{&complete, &drop};

  Handler handler_;
  std::optional<tracking_executor<executor_type>> elsewhere_;  // set if its executor is not the loop's
};

}  // namespace quintet::detail
