// SPDX-License-Identifier: BSL-1.0
// bus_node: passes calls of any thread on to the node's loop.
#include "bus_node.hpp"

#include "node/node.hpp"

#include "../net/loop/prepared_thread.hpp"

#include <stdexcept>
#include <utility>

namespace quintet {

bus_node::bus_node(bus_options options)
    : node_(std::make_unique<bus::node>(std::move(options))), loop_(node_->context().loop()) {}

bus_node::~bus_node() {
  stop();
  if (background_.joinable()) background_.join();
}

void bus_node::run_once() {
  if (std::exchange(has_run_, true)) throw std::logic_error("a bus node can run only once; create another node");
}

void bus_node::run() {
  run_once();
  start();
  loop_.run();
  finish();
}

void bus_node::run_in_background() {
  run_once();
  const auto prepare = [this] {
    loop_.io().prepare();
    start();
  };
  background_ = detail::start_prepared_thread("qnt-bus", prepare, [this] {
    loop_.run();
    finish();
  });
}

void bus_node::stop() noexcept { node_->server().stop(); }

void bus_node::connect(std::uint64_t peer, const std::vector<std::string>& addresses) {
  if (peer == 0 || peer == id()) throw config_error("connect: the peer's id is 0 or the node's own");
  auto how = bus::candidates_of(addresses, node_->context().options().shared_memory);
  loop_.post([this, peer, h = std::move(how)]() mutable noexcept { node_->connect(peer, std::move(h)); });
}

void bus_node::disconnect(std::uint64_t peer) {
  loop_.post([this, peer]() noexcept { node_->disconnect(peer); });
}

void bus_node::use_route(std::uint64_t peer, std::optional<bus_route> route) {
  loop_.post([this, peer, route]() noexcept { node_->use_route(peer, route); });
}

error_code bus_node::send(std::uint64_t to, bytes payload) {
  return loop_.in_this_thread() ? node_->send(to, payload) : node_->post(to, payload, {});
}

error_code bus_node::send(std::uint64_t to, bytes payload, completion done) {
  return loop_.in_this_thread() ? node_->send(to, payload, std::move(done)) : node_->post(to, payload, std::move(done));
}

std::optional<bus_route> bus_node::route_of(std::uint64_t peer) const { return node_->context().route_of(peer); }

std::map<std::uint64_t, bus_route> bus_node::routes() const { return node_->context().routes(); }

std::vector<std::string> bus_node::addresses() const {
  std::vector<std::string> all;
  if (node_->context().options().listen.empty()) return all;
  for (const address& at : node_->server().addresses()) all.push_back((at.is_unix() ? "" : "tcp:") + at.to_string());
  return all;
}

bus_statistics bus_node::statistics() const noexcept {
  bus_statistics sum;
  sum.add(node_->context().counters());
  return sum;
}

std::uint64_t bus_node::id() const noexcept { return node_->context().id(); }
event_loop& bus_node::loop() noexcept { return loop_; }

void bus_node::start() { node_->server().start(); }

void bus_node::finish() {
  node_->server().finish();
  node_->finish();
}

}  // namespace quintet
