// SPDX-License-Identifier: BSL-1.0
// world: what clients and outsiders do, how time passes, and when it is judged.
#include "world.hpp"

#include "../support/end_reasons.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace quintet::testing {

std::string sequence_world::run(const std::vector<step>& steps) {
  for (std::size_t i = 0; i < steps.size() && reported().empty(); ++i) {
    perform_step(steps[i]);
    if (!reported().empty()) return reported() + " (at step " + std::to_string(i + 1) + ")";
  }
  finish();
  return reported().empty() ? std::string() : reported() + " (at the end)";
}

// With dice of its own, so that a step that is left out changes nothing for the others.
void sequence_world::perform_step(const step& s) {
  random_.seed(s.dice | 1U);
  network_.reseed(s.dice);
  if (actor_of(s.what) == actor::client)
    act_as_client(clients_.at(s.who), s);
  else
    act_from_outside(s);
  if (s.turns == until_rest) return come_to_rest();
  for (unsigned i = 0; i < s.turns; ++i) (void)turn();
  (void)receive_all();
}

void sequence_world::act_as_client(client& c, const step& s) {
  if (s.what == event::connect) return connect(c, s);
  const bool has_ended = c.handle < 0 || (c.reads && (network_.at_end(c.handle) || network_.was_reset(c.handle)));
  if (s.what == event::command && has_ended) connect(c, s);  // and begins anew
  if (c.handle < 0) return;
  switch (s.what) {
    case event::command:
      return give_command(c, s);
    case event::deliver:
      return deliver(c, s.amount % 2 == 0 ? 0 : c.kept_back.size() / 2);
    case event::receive:
      return receive(c, 1 + s.amount);
    case event::reads:
      c.reads = true;
      return;
    case event::stops_reading:
      c.reads = false;
      return;
    case event::half_close:
      c.of->half_closed = true;
      return network_.shutdown_send(c.handle);
    default:
      return leave(c, s.what == event::reset);
  }
}

void sequence_world::act_from_outside(const step& s) {
  life* const l = clients_.at(s.who).of;
  switch (s.what) {
    case event::wait:
      return pass(std::chrono::milliseconds(s.amount));
    case event::drain:
      return drain();
    case event::stop:
      if (stopping_ == stage_of_stop::none) stopping_ = stage_of_stop::main;
      return;
    case event::broadcast:
      return broadcast_from_outside(*this, host_.registry, record_head + s.amount);
    default:
      break;
  }
  if (!l) return;
  if (s.what == event::post) post_from_outside(*this, *l, host_.registry, s.does, s.amount);
  if (s.what == event::send) send_from_outside(*this, *l, host_.registry, record_head + s.amount);
  if (s.what == event::close) close_from_outside(*l, host_.registry);
  if (s.what == event::abort) abort_from_outside(*l, host_.registry);
}

void sequence_world::connect(client& c, const step& s) {
  if (c.handle >= 0) leave(c, false);
  c = client();
  c.handle = network_.connect(7);
  if (c.handle < 0) return;
  life& l = lives_.emplace_back();
  l.number = static_cast<unsigned>(lives_.size());
  l.kind = static_cast<flavour>(s.amount % flavours);
  l.has_client = true;
  l.limits = setting_.limits;
  l.note_limits();
  c.of = life_of_[c.handle] = &l;
  c.reader.on_record = [this, &c](char writer, std::uint32_t sequence, std::size_t) {
    model_.check_record(*c.of, c.so_far, writer, sequence);
  };
}

// Whoever closes without having received everything resets the connection.
void sequence_world::leave(client& c, bool resets) {
  measure(c);
  check_tail(c);
  c.of->client_closed = true;
  c.of->client_reset = resets || network_.waiting(c.handle) > 0;
  const int handle = std::exchange(c.handle, -1);
  if (resets) return network_.reset(handle);
  network_.close(handle);
}

void sequence_world::give_command(client& c, const step& s) {
  if (c.of->half_closed) return;
  const std::size_t filler = s.extra % 1000 == 999 ? 20'000 : s.extra % 1000;
  c.kept_back += make_line({.sequence = c.next_command++, .does = s.does, .amount = s.amount}, filler);
  // Some clients send far ahead. Every eighth time a coroutine waits for the next turn in between.
  for (std::uint32_t n = 0; s.extra % 100 == 7 && n < 300; ++n)
    c.kept_back += make_line(
        {.sequence = c.next_command++, .does = n % 8 == 0 ? action::sleep : action::reply, .amount = 3 * n + 1}, 900);
  c.of->sent_too_much |= filler > setting_.limits.max_input || c.kept_back.size() > setting_.limits.max_input;
  deliver(c, std::min<std::size_t>(s.extra / 1000, c.kept_back.size() - 1));
}

void sequence_world::deliver(client& c, std::size_t keeps) {
  if (c.of->half_closed) return;
  life& l = *c.of;
  const bytes now = bytes(c.kept_back).substr(0, c.kept_back.size() - keeps);
  network_.send(c.handle, now);
  const std::size_t end = now.rfind('\n');
  if (end != bytes::npos) l.whole_lines = l.client_sent + end + 1;
  l.client_sent += now.size();
  c.kept_back.erase(0, now.size());
}

void sequence_world::receive(client& c, std::size_t most) {
  const std::string all = network_.receive(c.handle, most);
  note(static_cast<std::uint64_t>(c.handle));
  note(std::hash<std::string>()(all));
  if (const std::string wrong = c.reader.take(all); !wrong.empty()) report(*c.of, wrong);
  c.of->read += all.size();
}

bool sequence_world::receive_all() {
  bool any = false;
  for (client& c : clients_)
    if (c.handle >= 0 && c.reads && network_.waiting(c.handle) > 0) {
      receive(c, ~std::size_t{0});
      any = true;
    }
  return any;
}

void sequence_world::come_to_rest() {
  do turn_until_rest();
  while (receive_all() && reported().empty());
  check();
}

void sequence_world::pass(duration time) {
  come_to_rest();
  for (life& l : lives_) model_.predict(l);
  clock_.advance(time);
  come_to_rest();
  for (life& l : lives_) l.due = life::never;
}

// Of a connection that is over nothing is known any more.
void sequence_world::measure(client& c) {
  if (c.handle < 0) return;
  life& l = *c.of;
  l.arrived = l.read + network_.waiting(c.handle);
  if (l.closed + l.ended == 0) l.unread = network_.unread(c.handle);
}

std::uint64_t sequence_world::arrived(const life& l) {
  for (const client& c : clients_)
    if (c.of == &l && c.handle >= 0) return l.read + network_.waiting(c.handle);
  return ~std::uint64_t{0};
}

void sequence_world::check_tail(const client& c) {
  model_.stopping = stopping_ != stage_of_stop::none;
  if (c.handle >= 0 && network_.at_end(c.handle))
    model_.check_tail(*c.of, c.so_far, c.reader.is_within(), network_.was_reset(c.handle));
}

void sequence_world::check() {
  model_.stopping = stopping_ != stage_of_stop::none;
  for (client& c : clients_) {
    measure(c);
    check_tail(c);
  }
  for (life& l : lives_) {
    const auto of = std::ranges::find_if(clients_, [&](const client& c) { return c.of == &l && c.handle >= 0; });
    const bool ended = of != clients_.end() && (network_.at_end(of->handle) || network_.was_reset(of->handle));
    model_.check(l, ended);
  }
}

void sequence_world::finish() {
  for (client& c : clients_) c.reads = true;
  come_to_rest();
  if (!reported().empty()) return;
  if (stopping_ == stage_of_stop::none) stopping_ = stage_of_stop::main;
  come_to_rest();
  for (client& c : clients_)
    if (c.handle >= 0) leave(c, false);
  come_to_rest();
  for (const life& l : lives_) model_.check_remains(l);
  const life& any = nobody_;
  if (stopping_ != stage_of_stop::priority_loop || !host_.priority_loop->finished())
    return report(any, "the server does not end");
  if (open_ != 0) report(any, "connections are left");
  if (programs_alive != 0) report(any, "handlers are left");
  loop_statistics counted;
  for (event_loop& l : loops_) counted.add(l.counters());
  if (counted.closed != counted.opened) report(any, "not each opened connection was counted as closed");
  if (!reasons_add_up(counted)) report(any, "the reasons do not add up to the closed connections");
  if (host_.registry.size() != 0) report(any, "the registry is not empty");
  if (host_.output.used() != 0 || host_.input.used() != 0) report(any, "a budget of bytes is not given back");
  if (network_.open_handles() != 0) report(any, "handles are open");
}

}  // namespace quintet::testing
