// SPDX-License-Identifier: BSL-1.0
// node_process.cpp: sends as fast as the bus takes messages, and checks all that arrive.
#include "bus/node_process.hpp"

#include "unique_fd.hpp"

#include <quintet/net/event_loop.hpp>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace quintet::bench {
namespace {

// Bytes for each target in a turn of a merging node. More would leave the caches before they are written.
constexpr std::size_t burst = 128 * 1024;
// A backlog would leave in merged writes, so a node that must not merge has as little as the bus allows: two messages
// of the largest size.
constexpr std::size_t least_unacknowledged = 2 * (numbered_messages::largest + 64);
// A relay drops what its queue has no room for. So each sender has at most a window and a message on the way, headers
// included, and room for twice as much there: the queue is freed in chunks of 64 KiB.
constexpr std::size_t window = 512 * 1024, header = 64;

// IPv6, as the published figures have it, where the machine does.
std::string tcp_address(unsigned port) {
  static const bool has_ipv6 = [] {
    const unique_fd one(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_addr = in6addr_loopback;
    return ::bind(one.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }();
  return fmt::format("tcp:{}:{}", has_ipv6 ? "[::1]" : "127.0.0.1", port);
}

}  // namespace

node_process::node_process(const bus_traffic& traffic, node_role role, std::span<node_board> boards, std::string name,
                           int control)
    : traffic_(traffic),
      role_(std::move(role)),
      boards_(boards),
      name_(std::move(name)),
      control_(control),
      messages_(traffic.sizes, traffic.seed, traffic.checksum) {
  for (const std::uint64_t id : role_.targets) targets_.push_back({id});
  node_ = std::make_unique<bus_node>(make_options());
  for (const std::string& where : node_->addresses()) {
    if (where.starts_with("tcp:"))
      own_board().port = static_cast<unsigned>(std::stoul(where.substr(where.rfind(':') + 1)));
  }
}

bus_options node_process::make_options() {
  bus_options o{.id = role_.id,
                .listen = {traffic_.route == bus_route::tcp ? tcp_address(0) : address_of(role_.id)},
                .parent = role_.relay,
                .on_messages = [this](std::span<const bus_message> all) { receive(all); },
                .on_route = [this](std::uint64_t peer, auto route) { note_route(peer, route); },
                .on_room =
                    [this](std::uint64_t peer) {
                      for (target& t : targets_) {
                        if (peer == role_.relay.value_or(t.id)) t.is_full = t.unconfirmed >= window;
                      }
                      schedule();
                    },
                .shared_memory = traffic_.route == bus_route::shm,
                .loop = {.static_output = traffic_.static_output}};
  if (!traffic_.merging) o.max_unacknowledged = least_unacknowledged;
  if (role_.forwards_for > 0) o.max_unacknowledged = role_.forwards_for * 2 * window;
  return o;
}

std::string node_process::address_of(std::uint64_t id) const {
  if (traffic_.route == bus_route::tcp) return tcp_address(boards_[id - 1].port.load());
  return fmt::format("unix:@{}.{}", name_, id);
}

// ---- Commands -------------------------------------------------------------------------------------------------------

void node_process::run() {
  node_->run_in_background();
  answer(node_command::listening);
  for (char command = 0; ::recv(control_, &command, 1, 0) == 1 && command != node_command::end;) {
    if (command == node_command::connect) connect_all();
    if (command == node_command::send) node_->loop().post([this] { schedule(); });
    if (command == node_command::stop)
      node_->loop().post([this] {
        is_stopping_ = true;
        undrained_ = targets_.size();
        if (undrained_ == 0) answer(node_command::drained);
        schedule();
      });
  }
  node_.reset();
}

void node_process::answer(char what) const { (void)::send(control_, &what, 1, MSG_NOSIGNAL); }

void node_process::connect_all() {
  for (const std::uint64_t id : role_.dials) node_->connect(id, {address_of(id)});
}

void node_process::note_route(std::uint64_t peer, std::optional<bus_route> route) {
  routes_[peer] = route;
  const auto right = std::ranges::count_if(routes_, [this](const auto& one) { return one.second == traffic_.route; });
  if (is_linked_ || static_cast<std::size_t>(right) < role_.links) return;
  is_linked_ = true;
  answer(node_command::linked);
}

void node_process::receive(std::span<const bus_message> all) {
  for (const bus_message& m : all) check_.take(m.source, m.payload);
  own_board().publish(check_.counts());
  note_checksums();
}

void node_process::note_checksums() const {
  own_board().checksum_ns.store(messages_.checksum_ns(), std::memory_order_relaxed);
}

// ---- Sending --------------------------------------------------------------------------------------------------------

void node_process::schedule() {
  if (is_scheduled_ || targets_.empty()) return;
  is_scheduled_ = true;
  node_->loop().post([this] {
    is_scheduled_ = false;
    if (!node_->loop().stopping()) send_all();
  });
}

void node_process::send_all() {
  for (target& t : targets_) send_to(t);
  own_board().sent.store(sent_, std::memory_order_relaxed);
  note_checksums();
  own_board().writes.store(node_->loop().counters().sends.value(), std::memory_order_relaxed);
  if (std::ranges::any_of(targets_, [](const target& t) { return !t.is_full && !t.is_last_sent; })) schedule();
}

void node_process::send_to(target& t) {
  if (t.is_full || t.is_last_sent) return;
  if (is_stopping_) return send_last(t);
  const std::size_t most = traffic_.merging ? burst : 1;
  for (std::size_t sent = 0; sent < most;) {
    sent += messages_.size(role_.id, t.number);
    role_.relay ? send_to_relay(t) : send_one(t);
    if (t.is_full) return;
  }
}

void node_process::send_one(target& t) {
  note_sent(t, messages_.with(role_.id, t.number, [&](bytes message) { return node_->send(t.id, message); }));
}

// Each half of the window has a completion with its last message.
void node_process::send_to_relay(target& t) {
  const std::size_t size = messages_.size(role_.id, t.number) + header, half = t.unannounced + size;
  if (half < window / 2) {
    send_one(t);
  } else {
    const auto confirmed = [this, &t, half](error_code) {
      t.unconfirmed -= half;
      t.is_full = false;
      schedule();
    };
    note_sent(t,
              messages_.with(role_.id, t.number, [&](bytes message) { return node_->send(t.id, message, confirmed); }));
  }
  if (t.is_full) return;
  t.unconfirmed += size;
  t.unannounced = half < window / 2 ? half : 0;
  t.is_full = t.unconfirmed >= window;
}

void node_process::note_sent(target& t, error_code failed) {
  if (failed && failed != errc::output_full) {  // nothing can catch an exception here
    fmt::print(stderr, "node {} cannot send to node {}: {}\n", role_.id, t.id, failed.message());
    ::_exit(1);
  }
  t.is_full = static_cast<bool>(failed);
  if (failed) return;
  ++t.number;
  ++sent_;
}

// Its completion says that the target has received all messages before it as well.
void node_process::send_last(target& t) {
  const auto done = [this](error_code) {
    if (--undrained_ == 0) answer(node_command::drained);
  };
  note_sent(t, messages_.with(role_.id, t.number, [&](bytes message) { return node_->send(t.id, message, done); }));
  t.is_last_sent = !t.is_full;
}

}  // namespace quintet::bench
