// SPDX-License-Identifier: BSL-1.0
// memory_engine: polls, receives and sends in a memory_network.
#include "memory_engine.hpp"

#include "../engine/socket_services.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

namespace quintet::testing {
namespace {

constexpr std::uint32_t reads = 1, sends = 2, knows_reset = 4, knows_end = 8;

}  // namespace

error_code memory_engine::add(channel& c, stream_handle&& handle) {
  if (kind_of(c) == kind::event || handle.carried()) return system_error_code(EOPNOTSUPP);
  bind(c, handle.get());
  interest(c) = reads;
  watched_[handle.get()] = &c;
  return {};
}

stream_handle memory_engine::remove(channel& c) noexcept {
  watched_.erase(c.handle());
  return unbind(c);
}

error_code memory_engine::set_reading(channel& c, bool on) noexcept {
  if (on)
    interest(c) = (interest(c) | reads) & ~knows_end;
  else
    interest(c) &= ~reads;
  return {};
}

bool memory_engine::poll(duration) {
  std::vector<int> order;
  for (const auto& [handle, c] : watched_) order.push_back(handle);
  std::shuffle(order.begin(), order.end(), net_.random_);
  std::size_t dispatched = 0;
  for (auto next = order.begin(); next != order.end() && dispatched < net_.most_ready; ++next)
    if (const auto found = watched_.find(*next); found != watched_.end() && ready(*found->second)) ++dispatched;
  return dispatched > 0;
}

bool memory_engine::ready(channel& c) {
  if (kind_of(c) == kind::accept) return accept_ready(static_cast<accept_channel&>(c));
  if (kind_of(c) == kind::connect) return connect_ready(static_cast<connect_channel&>(c));
  return stream_ready(static_cast<stream_channel&>(c));
}

bool memory_engine::accept_ready(accept_channel& c) {
  if (!(interest(c) & reads)) return false;
  error_code failed;
  const int handle = sockets().accept(c.handle(), failed);
  if (handle < 0) return false;
  c.on_accepted(handle);
  return true;
}

bool memory_engine::connect_ready(connect_channel& c) {
  const int handle = c.handle();
  const address to = net_.streams_.at(handle).connecting;
  if (net_.is_silent(to)) return false;
  remove(c);
  net_.streams_.at(handle).connecting = {};
  auto* const there = net_.find_listening([&](const address& at) { return at == to; });
  c.on_connected(net_.establish(handle, there) ? error_code() : system_error_code(ECONNREFUSED));
  return true;
}

bool memory_engine::stream_ready(stream_channel& c) {
  auto& s = net_.streams_.at(c.handle());
  const bool is_read = (interest(c) & reads) != 0;
  if (s.reset && !(interest(c) & knows_reset) && (s.arrived.empty() || !is_read)) {
    interest(c) |= knows_reset;
    tell_reset(c, s.arrived.empty());
    return true;
  }
  if ((interest(c) & sends) && (s.reset || room(c.handle()) >= net_.least_room)) {
    interest(c) &= ~sends;
    c.on_sendable();
    return true;
  }
  return is_read ? read(c) : s.ended && !s.reset && tell_end(c);
}

bool memory_engine::read(stream_channel& c) {
  const auto& s = net_.streams_.at(c.handle());
  if (!s.arrived.empty()) {
    receive(c);
    return true;
  }
  if (!s.ended && !s.reset) return false;
  interest(c) &= ~reads;
  c.on_receive_end({});
  return true;
}

// As sockets do: received bytes outlive the reset, and its error is told once.
void memory_engine::tell_reset(stream_channel& c, bool nothing_waits) {
  const error_code reason = system_error_code(ECONNRESET);
  if (!nothing_waits) return c.on_send_failed(reason);
  interest(c) &= ~reads;
  c.on_receive_end(reason);
}

// Of a stream that is not read; once.
bool memory_engine::tell_end(stream_channel& c) {
  if (interest(c) & knows_end) return false;
  interest(c) |= knows_end;
  c.on_peer_finished();
  return true;
}

void memory_engine::receive(stream_channel& c) {
  const std::span<char> into = kind_of(c) == kind::in_place_stream ? c.receive_space() : std::span<char>();
  if (c.handle() < 0) return;
  if (into.empty()) end_in_place(c);
  auto& arrived = net_.streams_.at(c.handle()).arrived;
  const std::size_t most = into.empty() ? receive_limit() : into.size();
  const std::string piece = arrived.substr(0, net_.some(std::min(arrived.size(), most)));
  arrived.erase(0, piece.size());
  if (into.empty()) return c.on_received(piece);
  std::ranges::copy(piece, into.begin());
  c.on_received_in_place(piece.size());
}

std::size_t memory_engine::room(int handle) const {
  const int peer = net_.streams_.at(handle).peer;
  if (peer < 0) return net_.window;
  const std::size_t queued = net_.streams_.at(peer).arrived.size();
  return queued < net_.window ? net_.window - queued : 0;
}

engine::send_result memory_engine::send(stream_channel& c, output_pieces pieces) noexcept {
  const auto& s = net_.streams_.at(c.handle());
  if (s.reset || s.peer < 0) return {0, s.reset ? ECONNRESET : EPIPE};
  const std::size_t offered = size_of(pieces), most = std::min(offered, room(c.handle()));
  const std::size_t taken = net_.takes_all ? most : net_.portion(most);
  for (std::size_t left = taken; left > 0;) {
    const bytes first =
        bytes(static_cast<const char*>(pieces.front().iov_base), pieces.front().iov_len).substr(0, left);
    net_.send(c.handle(), first);
    left -= first.size();
    remove_prefix(pieces, first.size());
  }
  if (taken < offered) interest(c) |= sends;
  return {taken};
}

}  // namespace quintet::testing
