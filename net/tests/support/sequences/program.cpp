// SPDX-License-Identifier: BSL-1.0
// program: performs the actions of a handler, and checks the order of the handler's calls.
#include "program.hpp"

#include <quintet/net/connection/connection_registry.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace quintet::testing {
namespace {

using namespace std::chrono_literals;

bool drops(const connection_limits& l) {
  return l.overflow == overflow_policy::drop || l.overflow == overflow_policy::error;
}

/// Writes `all` in several calls. Returns false if one of them is rejected.
bool write_in_parts(connection& c, bytes all, std::size_t part) {
  for (; !all.empty(); all.remove_prefix(std::min(all.size(), part)))
    if (!c.write(all.substr(0, part))) return false;
  return true;
}

bool write_as(connection& c, action how, std::string&& text) {
  const bytes all = text;
  switch (how) {
    case action::reply_shared:
      return c.write(std::make_shared<const std::string>(std::move(text)));
    case action::reply_string:
      return c.write(std::move(text));
    case action::reply_pieces: {
      const std::array<bytes, 4> pieces{all.substr(0, 5), all.substr(5, 9), bytes(), all.substr(14)};
      return c.write(std::span(pieces));
    }
    case action::reply_parts:
      return write_in_parts(c, all, all.size() / 3 + 1);
    case action::reply_long:
      return write_in_parts(c, all, 20'000);
    default:
      return c.write(all);
  }
}

std::size_t size_for(action how, std::uint32_t amount) {
  if (how == action::reply_long) return 64 * 1024 + amount % 20'000;
  const bool large = how == action::reply_shared || how == action::reply_string;
  return record_head + amount % (large ? 9000 : 400);
}

void begin_to_connect(stage& on, life& l, connection& c, std::uint32_t amount) {
  event_loop* const here = event_loop::current();
  const std::string target = on.target(amount % 2 == 0);
  if (here != &c.loop() || l.breaks_off || target.empty()) return;
  auto made = std::make_shared<std::unique_ptr<connector>>();
  *made = std::make_unique<connector>(*here, connect_options{}, [here](error_code failed, stream_handle stream) {
    if (!failed) here->io().close(std::move(stream));
  });
  (*made)->start(destination(target));
  l.breaks_off = [made, here]() noexcept {  // a connector is destroyed on its loop
    if (event_loop::current() == here)
      made->reset();
    else
      here->post([made]() noexcept { made->reset(); });
  };
}

void pause_for(stage& on, life& l, connection& c, std::uint32_t amount) {
  c.pause_reading();
  l.paused = true;
  c.loop().after(std::chrono::milliseconds(1 + amount % 2000), [&on, &l, &r = c.registry(), noted = timer_note(on)] {
    post_from_outside(on, l, r, action::resume, 0);
  });
}

void change_limits(stage& on, life& l, connection& c, action what, std::uint32_t amount) {
  if (what == action::set_limits)
    vary_limits(l.limits, amount);
  else
    vary_times(l.limits, amount);
  c.set_limits(l.limits);
  l.limits_since = on.now();
  l.note_limits();
}

void feed(stage& on, life& l, connection& c, std::uint32_t amount) {
  life* const source = on.at(amount % places);
  if (!source || source == &l) return;
  const std::lock_guard lock(source->mutex);
  source->fed = true;
  l.feeds = true;
  c.throttle_source(source->id);
}

void ask_when_sent(stage& on, life& l, connection& c) {
  const auto number = static_cast<std::uint32_t>(l.asked.size());
  l.asked.push_back(l.written);
  c.when_sent([&on, &l, number, at = l.written](error_code ec) {
    if (l.told++ != number) on.report(l, "when_sent() functions are called out of order, or twice");
    if (!ec && !l.may_drop && on.arrived(l) < at)
      on.report(l, "a when_sent() function was called before its bytes were taken");
    if (l.closed > 0 && !ec) on.report(l, "a when_sent() function was told of success after on_close");
  });
}

void write_until_full(stage& on, life& l, connection& c) {
  for (int n = 0; n < 40; ++n) {
    if (!c.writable()) {
      l.waits_for_room = l.kind == flavour::full || l.kind == flavour::classified;
      return;
    }
    write_record(on, l, c, action::reply_shared, 4000);
  }
}

void reach_another(stage& on, connection& c, action what, std::uint32_t amount) {
  life* const other = on.at(amount % places);
  if (!other) return;
  if (what == action::send_to) send_from_outside(on, *other, c.registry(), record_head + amount % 5000);
  if (what == action::post_to) post_from_outside(on, *other, c.registry(), action::reply, amount);
  if (what == action::close_other) close_from_outside(*other, c.registry());
  if (what == action::abort_other) abort_from_outside(*other, c.registry());
  if (what == action::cancel_other) cancel_from_outside(*other, c.registry());
}

// Without peer_finished, which would make a pool skip input that the reference model expects to be used.
void choose_reasons(connection& c, std::uint32_t amount) {
  if (amount % 3 == 0) c.cancel_on({});
  if (amount % 3 == 1) c.cancel_on(default_cancel_reasons);
  if (amount % 3 == 2) c.cancel_on({cancel_reason::drain, cancel_reason::cancelled, cancel_reason::peer_reset});
}

// The connection calls the function after on_close, with an error.
void ask_at_end(stage& on, life& l, connection& c) {
  ++l.asked_at_end;
  c.when_sent([&on, &l](error_code ec) {
    if (l.closed == 0 || !ec || l.told_at_end++ > 0)
      on.report(l, "a when_sent() function of on_close is told too early, of success, or twice");
  });
}

void close_because(life& l, connection& c, action what) {
  l.close_called = true;
  if (what != action::close_with_error) return c.close();
  l.has_reason = true;
  l.close_reason = errc::malformed_message;
  c.close(l.close_reason);
}

}  // namespace

work_scope::work_scope(stage& on, life& l, const char* what, role as) : stage_(on), life_(l), role_(as) {
  if (l.working) on.report(l, std::string(what) + " overlaps another call of the handler");
  if (l.closed + l.ended > 0) on.report(l, std::string(what) + " after the end");
  if (l.opened == 0 && std::string_view(what) != "on_open") on.report(l, std::string(what) + " before on_open");
  l.working = true;
  note();
}

work_scope::~work_scope() {
  life_.working = false;
  note();
}

void work_scope::note() {
  if (role_ != role::end) life_.last_work = stage_.now();
  if (role_ == role::other) life_.last_other_work = stage_.now();
}

// Returns whether a write was refused because the connection has ended, which the program may not know yet.
static bool has_refused_after_the_end(stage& on, life& l, connection& c) {
  if (l.shut || c.write_error() != boost::system::errc::broken_pipe) return false;
  if (!c.registry().post(c.id(), [](connection&) {})) on.report(l, "write() has refused, and the connection lives");
  return l.refused = true;
}

void write_record(stage& on, life& l, connection& c, action how, std::size_t size) {
  if (l.may_drop && (how == action::reply_parts || how == action::reply_long)) how = action::reply;
  if (l.refused) return;  // after a rejected write the connection closes
  std::string text = make_record('h', l.next_record, size);
  const bool full_before = l.shut;
  if (write_as(c, how, std::move(text))) {
    if (full_before) on.report(l, "write() has taken bytes after shutdown_send()");
    if (l.knows_of_failure) return;
    ++l.next_record;
    l.written += size;
  } else if (!has_refused_after_the_end(on, l, c) && !l.shut && !drops(c.limits())) {
    const std::lock_guard lock(l.mutex);
    if (!l.may_miss_broadcasts && l.written + l.sent_from_outside + size < c.limits().max_output)
      on.report(l, "write() has refused without need");
    l.refused = true;  // output_overflow closes the connection
  }
}

bool perform(stage& on, life& l, connection& c, action what, std::uint32_t amount) {
  switch (what) {
    case action::until_full:
      write_until_full(on, l, c);
      break;
    case action::when_sent:
      ask_when_sent(on, l, c);
      break;
    case action::flush:
      c.flush();
      break;
    case action::corked: {
      const cork_guard together = c.cork();
      write_record(on, l, c, action::reply, size_for(what, amount));
      c.flush();
      write_record(on, l, c, amount % 4 == 0 ? action::reply_long : action::reply_parts,
                   size_for(amount % 4 == 0 ? action::reply_long : action::reply, amount));
      break;
    }
    case action::close:
    case action::ends:
    case action::close_with_error:
      close_because(l, c, what);
      break;
    case action::shutdown_send:
      l.shut = true;
      c.shutdown_send();
      break;
    case action::pause:
      l.paused = true;
      c.pause_reading();
      break;
    case action::pause_for:
      pause_for(on, l, c, amount);
      break;
    case action::resume:
      l.paused = false;
      c.resume_reading();
      break;
    case action::leave_unused:
    case action::expect_more:
      return false;
    case action::set_limits:
    case action::set_times:
      change_limits(on, l, c, what, amount);
      break;
    case action::throttle_source:
      feed(on, l, c, amount);
      break;
    case action::move_to_priority_loop:
      (void)c.move_to_priority_loop();
      break;
    case action::move_to:
      if (event_loop* const to = on.loop(amount)) (void)c.move_to(*to);
      break;
    case action::throws:
      l.threw = true;
      throw std::runtime_error("asked to");
    case action::send_to:
    case action::post_to:
    case action::close_other:
    case action::abort_other:
    case action::cancel_other:
      reach_another(on, c, what, amount);
      break;
    case action::cancel_on:
      choose_reasons(c, amount);
      break;
    case action::broadcast:
      broadcast_from_outside(on, c.registry(), record_head + amount % 3000);
      break;
    case action::connect_out:
      begin_to_connect(on, l, c, amount);
      break;
    case action::dawdle:
      write_record(on, l, c, action::reply, size_for(what, amount));
      on.dawdle(amount % 6);
      break;
    default:
      write_record(on, l, c, what, size_for(what, amount));
  }
  return true;
}

void plain_program::on_open(connection& c) {
  const work_scope now(*stage_, *life_, "on_open");
  if (life_->opened++ > 0) stage_->report(*life_, "on_open is called twice");
  {
    const std::lock_guard lock(life_->mutex);
    life_->id = c.id();
  }
  write_record(*stage_, *life_, c, action::reply, record_head);
}

std::size_t plain_program::operator()(connection& c, bytes in) {
  life& l = *life_;
  const work_scope now(*stage_, l, "the handler", work_scope::role::input);
  if (l.waits_for_room) stage_->report(l, "input is delivered before on_writable");
  if (l.paused) stage_->report(l, "input is delivered while reading is paused");
  if (in.size() < l.expected) stage_->report(l, "input is delivered before as much as is expected");
  if (in.empty()) stage_->report(l, "the handler is called without input");
  l.expected = 0;
  l.leaves_input = false;
  bool wrong = false;
  std::size_t used = 0;
  while (const auto line = read_line(in.substr(used), wrong)) {
    if (line->sequence != l.next_command++) stage_->report(l, "input is missing, doubled or out of place");
    used += line->size;
    l.consumed += line->size;
    if (!perform(*stage_, l, c, line->does, line->amount)) {
      l.leaves_input = used < in.size();
      if (line->does == action::expect_more) c.require_input(l.expected = in.size() - used + 1 + line->amount % 50);
      return used;
    }
    if (l.close_called) return in.size();
    if (l.paused || l.waits_for_room || (l.number % 2 == 0 && c.must_yield())) break;
  }
  if (wrong) stage_->report(l, "what is delivered is not what was sent");
  if (l.paused || l.waits_for_room) l.leaves_input = used < in.size();
  const bytes rest = in.substr(used);
  if (!l.leaves_input && rest.size() >= size_field && rest[size_field - 1] % 2 == 0)
    c.require_input(l.expected = line_size(rest));
  return used;
}

void plain_program::on_close(connection& c, error_code why) {
  life& l = *life_;
  {
    const work_scope now(*stage_, l, "on_close", work_scope::role::end);
    l.why = why;
    c.write("nobody receives this");
    if (l.told < l.asked.size()) stage_->report(l, "on_close is called before a when_sent() function");
    if (l.next_command % 2 == 0) ask_at_end(*stage_, l, c);
    if (l.breaks_off) std::exchange(l.breaks_off, nullptr)();
  }
  ++l.closed;
  l.over = true;
}

void full_program::on_writable(connection& c) {
  const work_scope now(*stage_, *life_, "on_writable");
  if (!life_->waits_for_room) stage_->report(*life_, "on_writable is called without need");
  life_->waits_for_room = false;
  write_record(*stage_, *life_, c, action::reply, 300);
}

void full_program::on_read_eof(connection& c) {
  life& l = *life_;
  const work_scope now(*stage_, l, "on_read_eof");
  if (l.eof_seen) stage_->report(l, "on_read_eof is called twice");
  l.eof_seen = true;
  write_record(*stage_, l, c, action::reply, 100);
  if (l.next_command % 4 != 0) perform(*stage_, l, c, action::close, 0);
}

void full_program::on_drain(connection& c) {
  life& l = *life_;
  const work_scope now(*stage_, l, "on_drain");
  if (l.drain_seen) stage_->report(l, "on_drain is called twice");
  l.drain_seen = true;
  write_record(*stage_, l, c, action::reply, 100);
}

connection_class classified_program::classify(bytes first) {
  if (first.size() < 25) return connection_class::undecided;
  return first[12] % 2 == 0 || life_->number % 2 == 0 ? connection_class::priority : connection_class::ordinary;
}

}  // namespace quintet::testing
