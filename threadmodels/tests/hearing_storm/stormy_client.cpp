// SPDX-License-Identifier: BSL-1.0
// stormy_client: the acts, and the reasons that each may cause.
#include "stormy_client.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

unsigned reason_of(act what) {
  switch (what) {
    case act::deadline:
      return bit(cancel_reason::deadline);
    case act::reset:
      return bit(cancel_reason::peer_reset);
    case act::finish:
      return bit(cancel_reason::peer_finished);
    case act::abort:
      return bit(cancel_reason::aborted);
    default:
      return bit(cancel_reason::cancelled);
  }
}

unsigned ending_by(act what) {
  if (what == act::reset) return bit(ending_of::reset);
  if (what == act::finish) return bit(ending_of::in_order);
  return what == act::abort ? bit(ending_of::aborted) : 0;
}

bool is_cancel(act what) { return what == act::cancel_by_id || what == act::cancel_by_key; }
bool has(const acts& all, act what) { return std::ranges::find(all, what) != all.end(); }

cancel_reasons asking_for(bool finish, bool drain) {
  constexpr auto none = cancel_reason::cancelled;  // is asked for anyway
  return {cancel_reason::peer_reset, cancel_reason::cancelled, cancel_reason::deadline,
          finish ? cancel_reason::peer_finished : none, drain ? cancel_reason::drain : none};
}

}  // namespace

// Where the loop hears nothing, only look_for_end() does.
request& stormy_client::send(std::size_t number, const acts& planned, bool asks_for_drain) {
  if (!connection_) {
    connection_.emplace(server_.port(), client_options{.receive_buffer = 4096});
    life_ = nullptr;
    carries_cancel_ = false;
  }
  request& r = in_.requests.at(number);
  r.how = any_wait();
  // The thread of model 1 waits for room in send(), which does not tell of an orderly end.
  if (r.how == wait_for::room && in_.of.kind == model::thread_per_connection && has(planned, act::finish))
    r.how = wait_for::sleep;
  r.cancels = asking_for(has(planned, act::finish) || below(2) == 0, asks_for_drain);
  if (has(planned, act::deadline)) r.deadline = std::chrono::microseconds(below(2000)) - 500us;
  for (const act a : planned)
    if (in_.hears() || a == act::reset || a == act::finish) r.caused |= reason_of(a);
  if (carries_cancel_) r.caused |= bit(cancel_reason::cancelled);
  r.was_sent = true;
  connection_->send(std::to_string(number) + "\n");
  return r;
}

void stormy_client::await_begun(const request& r) {
  await(r.begun, "it does not begin");
  life_ = r.of;
  id_ = r.id;
  key_ = r.key;
}

void stormy_client::perform(act what) {
  connection_registry& registry = server_.connections();
  if (life_) life_->caused |= ending_by(what);
  if (what == act::cancel_by_id) (void)registry.cancel(id_);
  if (what == act::cancel_by_key) (void)registry.cancel(key_);
  if (what == act::abort) (void)registry.abort(id_);
  if (what == act::finish && connection_) connection_->finish_sending();
  if (what == act::reset && connection_) {
    connection_->reset();
    connection_.reset();
  }
}

// One time in four the acts do not wait until the request has begun. What ends the connection may then be first.
void stormy_client::one(std::size_t number) {
  acts planned{any_act()};
  if (below(5) == 0) planned.push_back(any_act());
  request& r = send(number, planned, false);
  const bool races = below(4) == 0;
  for (const act a : planned) {
    if (!races || !(life_ || a == act::reset || a == act::finish)) continue;
    r.may_be_lost = r.may_be_lost || ending_by(a) != 0;
    perform(a);
  }
  if (!r.may_be_lost) {
    await_begun(r);
    for (const act a : planned) perform(a);
  }
  const bool cancels = std::ranges::any_of(planned, is_cancel);
  carries_cancel_ = in_.hears() && ((cancels && (planned.size() > 1 || races)) || carries_cancel_);
  settle(number, r, planned);
}

void stormy_client::settle(std::size_t number, request& r, const acts& performed) {
  if (r.caused == 0) r.released = true;
  if (!r.may_be_lost) await(r.ended, "it does not end");
  if (!connection_) return;
  if (std::ranges::any_of(performed, [](act a) { return ending_by(a) != 0; })) {
    (void)connection_->receive_rest();
    connection_.reset();
    return;
  }
  std::string line = connection_->receive_line();
  line.erase(0, std::min(line.size(), line.find_first_not_of('x')));
  if (line != std::to_string(number)) in_.report(number, "the answer is '" + line + "'");
}

// Where callbacks run on the loop, requests cannot all wait at once: their connections are idle.
void stormy_client::end(std::size_t number, last_act last, std::latch& ready, const std::latch& begun) try {
  request* r = nullptr;
  acts planned;
  try {
    const bool asks = below(2) == 0;
    if (last != last_act::drain ? below(2) == 0 : !asks) planned.push_back(any_act());
    if (in_.hears()) {
      r = &send(number, planned, asks);
      if (asks && last != last_act::stop) r->caused |= bit(cancel_reason::drain);
      if (last == last_act::short_drain) r->caused |= bit(cancel_reason::drain_deadline);
      if (last == last_act::stop) r->caused |= bit(cancel_reason::stopped);
      await_begun(*r);
    }
    if (life_) life_->caused |= bit(ending_of::in_order) | (last != last_act::drain ? bit(ending_of::stopped) : 0);
  } catch (const std::exception& e) {
    in_.report(number, e.what());
  }
  ready.count_down();
  begun.wait();
  if (r)
    for (const act a : planned) perform(a);
  if (r) await(r->ended, "it does not end");
  if (connection_) (void)connection_->receive_rest();
  connection_.reset();
} catch (const std::exception& e) {
  in_.report(number, e.what());
}

}  // namespace quintet::test
