// SPDX-License-Identifier: BSL-1.0
// acceptor: one connection at a time through the limits.
#include <quintet/net/acceptor.hpp>

#include <quintet/net/placing.hpp>

#include <utility>

namespace quintet {

acceptor::acceptor(event_loop& loop, const accept_limits& limits, admissions& admitted, const log_hook& log,
                   place_function place)
    : loop_(loop),
      limits_(limits),
      admitted_(admitted),
      log_(log),
      place_(std::move(place)),
      rate_(limits.accept_rate, limits.accept_burst) {
  admitted_.attach(&loop_, [this] { there_is_room(); });
}

acceptor::~acceptor() { admitted_.attach(nullptr, nullptr); }

listener& acceptor::listen(const listen_options& options) {
  const bool has_buffers = options.send_buffer > 0 || options.receive_buffer > 0;
  return *listeners_.emplace_back(std::make_unique<listener>(
      loop_, options, [this, has_buffers](int handle) { accepted(handle, has_buffers); }, log_));
}

void acceptor::start() {
  for (const auto& l : listeners_) l->start();
}

void acceptor::close() noexcept {
  for (const auto& l : listeners_) l->close();
}

void acceptor::accepted(int handle, bool has_buffers) {
  const bool bounds = !has_buffers && admitted_.open() >= limits_.tuned_sockets;
  const bool wants_address = limits_.max_connections_per_address > 0 || limits_.on_refused || log_;
  const address from = wants_address ? loop_.io().remote_address(handle) : address();
  if (limits_.accept_rate > 0) rate_.take(loop_.now());
  if (admissions::ticket place = admitted_.enter(from); !place) {
    refuse(handle, errc::too_many_from_address, from);
  } else {
    if (bounds) loop_.io().bound_buffers(handle, limits_.bounded_socket_buffer, limits_.bounded_socket_buffer);
    try {
      place_(handle, std::move(place));
    } catch (...) {
      refuse(handle, detail::reason_of_exception(), from);
    }
  }
  full_ = admitted_.full();
  hold_if_necessary();
}

void acceptor::refuse(int handle, error_code reason, const address& from) noexcept {
  refused_.add();
  try {
    if (log_) report(log_, {severity::warning, "a connection is refused", reason, from.to_string()});
    if (limits_.on_refused) limits_.on_refused(reason, from);
  } catch (...) {  // it has been told, and has nothing to decide
  }
  loop_.io().close(handle);
}

void acceptor::there_is_room() noexcept {
  full_ = admitted_.full();
  hold_if_necessary();
}

void acceptor::hold_if_necessary() noexcept {
  const duration too_fast_for = limits_.accept_rate > 0 ? rate_.wait(loop_.now()) : duration::zero();
  if (too_fast_for > duration::zero()) loop_.start(*this, too_fast_for);
  for (const auto& l : listeners_) l->hold(full_ || too_fast_for > duration::zero());
}

std::uint64_t acceptor::accepted() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& l : listeners_) sum += l->accepted();
  return sum;
}

std::uint64_t acceptor::errors() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& l : listeners_) sum += l->errors();
  return sum;
}

}  // namespace quintet
