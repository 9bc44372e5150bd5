// SPDX-License-Identifier: BSL-1.0
// memory_sockets: listens, connects and closes in a memory_network.
#include "memory_network.hpp"

#include <cerrno>
#include <new>

namespace quintet::testing {

int memory_sockets::listen(const listen_options& options) {
  if (!options.proxy.trusted.empty()) throw_system_error(EOPNOTSUPP, "cannot read PROXY headers in memory");
  address at(options.at);
  if (at.is_ip() && at.port() == 0) at = address(join_address(at.host(), net_.next_port_++));
  for (const auto& [handle, l] : net_.listeners_)
    if (l.at == at) throw_system_error(EADDRINUSE, "cannot listen on " + at.to_string());
  const int handle = net_.next_handle_++;
  net_.listeners_[handle] = {at, static_cast<std::size_t>(options.backlog), {}};
  return handle;
}

int memory_sockets::accept(int listening, error_code&) noexcept {
  auto& waiting = net_.listeners_.at(listening).waiting;
  if (waiting.empty()) return -1;
  const int handle = waiting.front();
  waiting.pop_front();
  return handle;
}

int memory_sockets::connect(const address& to, error_code& failed, const socket_options&) noexcept try {
  net_.attempts_.push_back(to);
  const int handle = net_.next_handle_++;
  net_.streams_[handle].connecting = to;
  return handle;
} catch (const std::bad_alloc&) {
  failed = system_error_code(ENOMEM);
  return -1;
}

// Every client has the address 127.0.0.1, and its own port while fewer than 50,000 handles have been used.
error_code memory_sockets::adopt_stream(stream_handle& stream) noexcept {
  return net_.streams_.contains(stream.get()) ? error_code() : system_error_code(EBADF);
}

address memory_sockets::local_address(int handle) const {
  if (const auto l = net_.listeners_.find(handle); l != net_.listeners_.end()) return l->second.at;
  const auto s = net_.streams_.find(handle);
  if (s == net_.streams_.end()) return {};
  if (s->second.accepted_at.type() != address::kind::none) return s->second.accepted_at;
  return address(join_address("127.0.0.1", static_cast<std::uint16_t>(10'000 + handle % 50'000)));
}

address memory_sockets::remote_address(int handle) const {
  const auto s = net_.streams_.find(handle);
  if (s == net_.streams_.end()) return {};
  return s->second.peer >= 0 ? local_address(s->second.peer) : s->second.former_peer;
}

std::size_t memory_sockets::unread(int handle) const noexcept { return net_.streams_.at(handle).arrived.size(); }

socket_services::peer_state memory_sockets::state_of_peer(int handle) const noexcept {
  const auto& s = net_.streams_.at(handle);
  if (s.reset) return peer_state::gone;
  return s.ended ? peer_state::finished : peer_state::connected;
}

std::size_t memory_sockets::unsent(int handle) const noexcept { return net_.unread(handle); }

void memory_sockets::reset_when_closed(int handle) noexcept { net_.streams_.at(handle).resets = true; }

void memory_sockets::shutdown_send(int handle) noexcept { net_.shutdown_send(handle); }

void memory_sockets::close(int handle, bool) noexcept {
  if (const auto l = net_.listeners_.find(handle); l != net_.listeners_.end()) {
    for (const int waiting : l->second.waiting) net_.close(waiting);
    net_.listeners_.erase(l);
  }
  net_.close(handle);
}

}  // namespace quintet::testing
