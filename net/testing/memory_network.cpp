// SPDX-License-Identifier: BSL-1.0
// memory_network: the network in memory, and the functions of a test's client.
#include "memory_network.hpp"

#include "memory_engine.hpp"

#include <algorithm>
#include <utility>

namespace quintet::testing {

std::unique_ptr<engine> memory_network::make_engine() { return std::make_unique<memory_engine>(*this, sockets_); }

memory_network::listening* memory_network::find_listening(const std::function<bool(const address&)>& is_meant) {
  const auto found = std::ranges::find_if(listeners_, [&](const auto& l) { return is_meant(l.second.at); });
  return found == listeners_.end() ? nullptr : &found->second;
}

bool memory_network::establish(int client, listening* at) {
  if (!at || at->waiting.size() >= at->backlog) return false;
  const int server = next_handle_++;
  streams_[client].peer = server;
  streams_[server].peer = client;
  streams_[server].accepted_at = at->at;
  at->waiting.push_back(server);
  return true;
}

int memory_network::connect(listening* at) {
  const int client = next_handle_++;
  if (establish(client, at)) return client;
  streams_.erase(client);
  return -1;
}

int memory_network::connect(std::uint16_t port) {
  return connect(find_listening([&](const address& at) { return at.is_ip() && at.port() == port; }));
}

int memory_network::connect(const address& to) {
  return connect(find_listening([&](const address& at) { return at == to; }));
}

void memory_network::set_silent(const address& at, bool on) {
  std::erase(silent_, at);
  if (on) silent_.push_back(at);
}

bool memory_network::is_silent(const address& at) const { return std::ranges::count(silent_, at) > 0; }

void memory_network::send(int handle, bytes data) {
  const int to = streams_.at(handle).peer;
  if (to >= 0) streams_.at(to).arrived.append(data);
}

std::string memory_network::receive(int handle, std::size_t most) {
  std::string& arrived = streams_.at(handle).arrived;
  if (most >= arrived.size()) return std::exchange(arrived, {});
  std::string first = arrived.substr(0, most);
  arrived.erase(0, most);
  return first;
}

std::size_t memory_network::waiting(int handle) const { return streams_.at(handle).arrived.size(); }

std::size_t memory_network::unread(int handle) const {
  const int at = streams_.at(handle).peer;
  return at >= 0 ? streams_.at(at).arrived.size() : 0;
}

std::size_t memory_network::portion(std::size_t most) {
  if (most == 0) return 0;
  switch (random_() % 8) {
    case 0:
      return 0;
    case 1:
    case 2:
      return some(most);
    default:
      return most;
  }
}

void memory_network::shutdown_send(int handle) {
  const int to = streams_.at(handle).peer;
  if (to >= 0) streams_.at(to).ended = true;
}

void memory_network::close(int handle) {
  const auto s = streams_.find(handle);
  if (s == streams_.end()) return;
  if (s->second.peer >= 0) {
    stream& other = streams_.at(s->second.peer);
    other.ended = true;
    other.former_peer = sockets_.local_address(handle);
    other.peer = -1;
    // As TCP does if a socket with unread bytes is closed.
    if (s->second.resets || !s->second.arrived.empty()) other.reset = true;
  }
  streams_.erase(s);
}

void memory_network::reset(int handle) {
  streams_.at(handle).resets = true;
  close(handle);
}

bool memory_network::at_end(int handle) const {
  const stream& s = streams_.at(handle);
  return s.ended && s.arrived.empty();
}

bool memory_network::was_reset(int handle) const { return streams_.at(handle).reset; }

}  // namespace quintet::testing
