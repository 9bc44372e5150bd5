// SPDX-License-Identifier: BSL-1.0
// messages: makes the nodes, drives them and replaces them.
#include "messages.hpp"

#include "failing_new.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/event_loop.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace quintet::test::soak {
namespace {

using namespace std::chrono_literals;

constexpr unsigned steps = 300;

std::uint64_t fresh_ids(unsigned count) {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(count);
}

std::uint32_t draw_size(dice& random, std::size_t most) {
  return static_cast<std::uint32_t>(random() % (one_in(random, 20) ? most - 64 : 200));
}

}  // namespace

messages::messages(const plan& p)
    : plan_(p), first_id_(fresh_ids(count)), ledger_(p.bus.repeats), random_(p.seed ^ 0x9e3779b9U) {
  for (unsigned i = 0; i < count; ++i) begin(i);
  driver_ = std::thread([this] { run(); });
}

messages::~messages() {
  ending_ = true;
  if (driver_.joinable()) driver_.join();
}

bus_options messages::options_of(unsigned number) {
  bus_options o{.id = first_id_ + number,
                .on_messages =
                    [this, number, life = seats_[number].life](std::span<const bus_message> all) {
                      for (const bus_message& m : all) ledger_.deliver(number, life, m.payload);
                    },
                .max_message = plan_.bus.max_message,
                .max_unacknowledged = plan_.bus.max_unacknowledged,
                .reconnect = {.base = 1ms, .cap = 5ms},
                .upgrade_interval = 2ms,
                .receipt_timeout = 200ms,  // what waits in a hub that ends is lost without a receipt
                .on_restart = plan_.bus.repeats ? bus_restart_policy::send_again : bus_restart_policy::fail,
                .ring_size = plan_.bus.ring_size,
                .engine = plan_.bus.engine};
  if (number == 0)
    o.listen = {fresh_unix_address(), "tcp:127.0.0.1:0"};
  else
    o.parent = first_id_;
  return o;
}

void messages::try_to_begin(unsigned number) {
  seat& s = seats_[number];
  s.node.reset();  // the id of an earlier attempt is free again
  s.node = std::make_unique<bus_node>(options_of(number));
  s.node->run_in_background();
}

// A node may be refused a descriptor or memory. It is made again.
void messages::begin(unsigned number) {
  seat& s = seats_[number];
  ++s.life;
  for (unsigned by = 0; by < senders; ++by)
    for (unsigned to = 0; to < count; ++to)
      s.streams[by][to] = &ledger_.add(number, to, static_cast<letter_sender>(by), number == 0 || to == 0);
  for (int attempts = 0;; ++attempts) try {
      try_to_begin(number);
      break;
    } catch (const std::exception&) {
      if (attempts == 100) throw;
    }
  for (unsigned child = 1; child < count; ++child)
    if ((number == 0 || number == child) && seats_[0].node && seats_[child].node) link(child);
}

void messages::end(unsigned number) {
  seat& s = seats_[number];
  const bus_statistics seen = s.node->statistics();
  counted_ += seen.failed + seen.refused + seen.unroutable;
  if (seen.malformed + seen.checksum_errors > 0) wrong_ = "a node has received malformed frames";
  s.node.reset();
  ledger_.note_end(number);
}

void messages::link(unsigned child) { seats_[child].node->connect(first_id_, seats_[0].node->addresses()); }

// ---- What happens ---------------------------------------------------------------------------------------------------

void messages::run() {
  const failing_allocations::spare spared;
  for (unsigned i = 0; i < steps && !ending_; ++i) {
    step();
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));  // others have their turn
  }
}

void messages::step() {
  switch (random_() % 40) {
    case 0:
    case 1:
    case 2:
      return change_route();
    case 3:
      if (one_in(random_, 2)) replace(draw(count));
      return;
    case 4:
      if (!plan_.bus.repeats) {  // else messages may come twice
        const unsigned child = 1 + draw(2);
        seats_[child].node->disconnect(first_id_);
        link(child);
      }
      return;
    default:
      send_burst();
  }
}

void messages::replace(unsigned number) {
  const std::unique_lock lock(mutex_);
  end(number);
  begin(number);
}

void messages::change_route() {
  constexpr std::array<std::optional<bus_route>, 5> all{std::nullopt, bus_route::mem, bus_route::shm,
                                                        bus_route::unix_socket, bus_route::tcp};
  seats_[1 + draw(2)].node->use_route(first_id_, all[random_() % all.size()]);
}

// A send that finds no memory has no effect.
bool messages::send(bus_node& from, letter_stream& s, std::uint32_t size, bool asks, std::string& payload) try {
  return s.next(size, asks, payload, [&](bytes all, bus_node::completion done) {
    const failing_allocations::spare also_here(false);
    return done ? from.send(first_id_ + s.to, all, std::move(done)) : from.send(first_id_ + s.to, all);
  });
} catch (const std::bad_alloc&) {
  return false;
}

void messages::send_burst() {
  const unsigned from = draw(count);
  const unsigned to = (from + 1 + draw(2)) % count;
  const std::uint64_t seed = random_();
  const bool on_loop = one_in(random_, 2);
  letter_stream& s = *seats_[from].streams[on_loop ? 0 : 1][to];
  bus_node& node = *seats_[from].node;  // runs the bursts that it has when it is destroyed
  const auto burst = [this, &node, &s, seed]() noexcept {
    const failing_allocations::spare spared;
    dice random(seed);
    std::string payload;
    for (std::uint64_t n = 1 + random() % 30; n > 0; --n)
      if (!send(node, s, draw_size(random, plan_.bus.max_message), one_in(random, 2), payload)) return;
  };
  if (!on_loop) return burst();
  bursts_.acquire();
  node.loop().post([this, burst]() noexcept {
    burst();
    bursts_.release();
  });
}

void messages::send_from_handler(std::uint32_t number) {
  const std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  const unsigned from = number % count;
  const unsigned to = (from + 1 + number / count % 2) % count;
  std::string payload;
  (void)send(*seats_[from].node, *seats_[from].streams[2][to], number % 500, number % 2 == 0, payload);
}

// ---- The end --------------------------------------------------------------------------------------------------------

// The last message of each stream asks: when it has arrived, so have those before it.
std::string messages::settle() {
  std::string payload;
  if (plan_.has_shortage)  // connect() finds no memory on the loop, which on_route tells: the caller connects again
    for (unsigned child = 1; child < count; ++child) link(child);
  for (unsigned from = 0; from < count; ++from)
    for (unsigned to = 0; to < count; ++to) {
      letter_stream& last = *seats_[from].streams[1][to];
      if (from != to && !eventually([&] { return send(*seats_[from].node, last, 10, true, payload); }))
        return "a node takes no message";
    }
  if (!eventually([&] { return ledger_.is_settled(); })) return "completions are not called";
  return {};
}

std::string messages::finish() {
  ending_ = true;
  driver_.join();
  const failing_allocations::spare spared;
  std::string wrong = settle();
  std::uint64_t counted = counted_;
  for (const seat& s : seats_) {
    const bus_statistics seen = s.node->statistics();
    counted += seen.failed + seen.refused + seen.unroutable;
  }
  if (wrong.empty()) wrong = ledger_.judge(counted);
  for (unsigned i = count; i > 0; --i) end(i - 1);
  return wrong.empty() ? wrong_ : wrong;
}

}  // namespace quintet::test::soak
