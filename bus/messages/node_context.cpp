// SPDX-License-Identifier: BSL-1.0
// node_context: calls the program's callbacks, and counts their exceptions.
#include "node_context.hpp"

#include <new>
#include <span>

namespace quintet::bus {

node_context::node_context(bus_options options) : options_(std::move(options)), posted_(options_.max_posted) {
  validate(options_);
  std::random_device device;
  random_.seed(std::uint64_t{device()} << 32U | device());
}

void node_context::deliver() {
  if (batch_size_ == 0) return;
  const std::span<const bus_message> all(batch_.data(), std::exchange(batch_size_, 0));
  counters_.delivered.add(all.size());
  if (options_.on_messages) options_.on_messages(all);
}

std::map<std::uint64_t, bus_route> node_context::routes() const {
  const std::lock_guard lock(routes_mutex_);
  std::map<std::uint64_t, bus_route> all;
  for (const auto& [peer, route] : routes_)
    if (route) all.emplace(peer, *route);
  return all;
}

std::optional<bus_route> node_context::route_of(std::uint64_t peer) const {
  const std::lock_guard lock(routes_mutex_);
  const auto found = routes_.find(peer);
  return found == routes_.end() ? std::nullopt : found->second;
}

void node_context::add_peer(std::uint64_t peer) {
  const std::lock_guard lock(routes_mutex_);
  routes_.try_emplace(peer);
}

void node_context::remove_peer(std::uint64_t peer) noexcept {
  const std::lock_guard lock(routes_mutex_);
  routes_.erase(peer);
}

void node_context::report_route(std::uint64_t peer, std::optional<bus_route> route) noexcept {
  {
    const std::lock_guard lock(routes_mutex_);
    if (const auto known = routes_.find(peer); known != routes_.end()) known->second = route;
  }
  guarded([&] {
    if (options_.on_route) options_.on_route(peer, route);
  });
}

void node_context::report_failure(std::uint64_t peer, const char* what, error_code why) noexcept try {
  if (why != errc::bad_checksum) counters_.malformed.add();
  if (!options_.log) return;
  const std::string who = peer != 0 ? "node " + std::to_string(peer) : "an unknown node";
  report(options_.log, {severity::warning, "closed a bus connection with " + who + ": received " + what, why});
} catch (const std::bad_alloc&) {  // the count remains
}

}  // namespace quintet::bus
