// SPDX-License-Identifier: BSL-1.0
// coroutine_program: the four ways of reading, and the other operations that a coroutine awaits.
#include "coroutine_program.hpp"

#include <quintet/net/stream.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace quintet::testing {
namespace {

/// The codec of the lines.
struct line_codec {
  static frame parse(bytes in) {
    if (in.size() < size_field) return frame::incomplete(size_field);
    const std::size_t size = line_size(in);
    return in.size() < size ? frame::incomplete(size) : frame::complete(in.substr(0, size), size);
  }
};

/// The unused input of a coroutine, and its way of reading.
struct reading {
  stream& s;
  stage& on;
  life& l;
  std::string rest = {};
  action way = action::read;
  line_codec lines = {};
};

/// Marks a wait in a read: the connection has the baton, and posted functions may run.
class pause_scope {
 public:
  explicit pause_scope(reading& r) : r_(r) {
    r_.l.working = false;
    r_.l.last_work = r_.on.now();
  }
  pause_scope(const pause_scope&) = delete;
  pause_scope& operator=(const pause_scope&) = delete;
  ~pause_scope() {
    if (r_.l.working) r_.on.report(r_.l, "the coroutine goes on while a posted function runs");
    r_.l.working = true;
    r_.l.last_work = r_.on.now();
  }

 private:
  reading& r_;
};

awaitable<bool> read_some(reading& r) {
  std::optional<bytes> in;
  {
    const pause_scope waits(r);
    in = co_await r.s.read();
  }
  if (!in) co_return false;
  if (in->empty()) r.on.report(r.l, "read() returns nothing, and this is not the end");
  if (r.l.paused && !r.s.draining()) r.on.report(r.l, "read() returns input while reading is paused");
  r.rest += *in;
  r.l.taken += in->size();
  co_return true;
}

awaitable<bool> read_whole(reading& r) {
  boost::system::result<bytes> got = error_code();
  {
    const pause_scope waits(r);
    if (r.way == action::read_until) {
      got = co_await r.s.read_until("\n", 100'000);
    } else if (r.way == action::read_message) {
      got = co_await r.s.read_message(r.lines);
    } else {
      got = co_await r.s.read_exactly(size_field);
      if (got) {
        r.rest = *got;
        r.l.taken += got->size();
        got = co_await r.s.read_exactly(line_size(r.rest) - size_field);
      }
    }
  }
  if (got) r.rest += *got;
  if (got) r.l.taken += got->size();
  co_return got.has_value();
}

awaitable<std::optional<command>> next_command(reading& r) {
  for (;;) {
    bool wrong = false;
    if (const auto line = read_line(r.rest, wrong)) {
      if (line->sequence != r.l.next_command++) r.on.report(r.l, "input is missing, doubled or out of place");
      r.l.consumed += line->size;
      r.rest.erase(0, line->size);
      co_return line;
    }
    if (wrong) r.on.report(r.l, "what is read is not what was sent");
    const bool whole = r.rest.empty() && r.way != action::read;
    if (!(whole ? co_await read_whole(r) : co_await read_some(r))) co_return std::nullopt;
  }
}

awaitable<> write_much(reading& r, std::uint32_t amount) {
  for (std::uint32_t n = 0; n < 4 + amount % 20; ++n) {
    write_record(r.on, r.l, r.s, action::reply_shared, 3000);
    bool open = true;
    {
      const pause_scope waits(r);
      r.l.waits_for_room = true;
      open = co_await r.s.until_writable();
      r.l.waits_for_room = false;
    }
    const cancel_reason why = r.s.cancelled().why();
    const bool lives =
        why == cancel_reason::cancelled || why == cancel_reason::drain || why == cancel_reason::peer_reset;
    r.l.knows_of_failure |= !open && !lives;
    if (!open) co_return;
  }
}

/// A sleep ends early for a reason, and does not begin while one lasts.
awaitable<error_code> sleep_on(reading& r, duration time) {
  const bool cancelled = bool(r.s.cancelled());
  const time_point due = r.s.loop().now() + time;
  const timer_note noted(r.on);
  const error_code why = co_await sleep_for(time);
  if (why && !r.s.cancelled()) r.on.report(r.l, "a sleep is cancelled without a reason");
  if (cancelled && !why && time > duration{}) r.on.report(r.l, "a sleep begins although a reason lasts");
  if (!why && r.s.loop().now() < due) r.on.report(r.l, "a sleep ends too early");
  co_return why;
}

awaitable<> sleep_until_deadline(reading& r, std::uint32_t amount) {
  const duration time = std::chrono::milliseconds(amount % 3000), limit = std::chrono::milliseconds(amount % 700);
  {
    const auto scope = r.s.with_deadline(r.s.loop().now() + limit);
    const timer_note noted(r.on);
    const bool told = co_await sleep_on(r, time) == errc::deadline_passed;
    if (told && !scope.has_passed()) r.on.report(r.l, "a deadline cancels before its time");
    if (scope.has_passed() && !r.s.cancelled().has(cancel_reason::deadline))
      r.on.report(r.l, "a deadline has passed, and nobody can see it");
  }
  if (r.s.cancelled().has(cancel_reason::deadline)) r.on.report(r.l, "a deadline outlives its scope");
}

awaitable<> read_by(reading& r, std::uint32_t amount) {
  if (!r.rest.empty()) co_return;  // a command is at hand
  const time_point due = r.s.loop().now() + std::chrono::milliseconds(amount % 700);
  const auto scope = r.s.with_read_deadline(due);
  const timer_note noted(r.on);
  (void)co_await read_some(r);  // at the end of the stream, the next read returns nothing as well
  if (scope.has_passed() && r.s.loop().now() < due) r.on.report(r.l, "a read ends before its time");
}

// Splits a record in one of three cases: nothing may be sent between its first part and the rest.
awaitable<> write_around_a_sleep(reading& r, std::uint32_t amount) {
  const bool splits = amount % 3 == 0 && !r.l.may_drop && !r.l.refused && !r.l.shut;
  const std::string text = make_record('h', r.l.next_record, splits ? 75'000 : record_head);
  const std::size_t first = splits ? 70'000 : 0;
  const bool begun = r.s.write(bytes(text).substr(0, first));
  (void)co_await sleep_on(r, std::chrono::milliseconds(amount % 3 == 1 ? 0 : amount % 3000));
  if (!splits) co_return write_record(r.on, r.l, r.s, action::reply, record_head);
  if (r.l.knows_of_failure) co_return;
  if (begun && r.s.write(bytes(text).substr(first))) {
    ++r.l.next_record;
    r.l.written += text.size();
  } else {
    r.l.refused = true;
  }
}

awaitable<> offload(reading& r, std::uint32_t amount) {
  bool begun = false;
  try {
    co_await r.s.offload([&] {
      begun = true;
      perform(r.on, r.l, r.s, amount % 3 == 0 ? action::dawdle : action::reply, amount);
      if (amount % 5 == 0) perform(r.on, r.l, r.s, action::reply_long, amount);
    });
  } catch (const boost::system::system_error&) {
    if (begun || !r.s.cancelled()) throw;
  }
}

awaitable<> act(reading& r, const command& line) {
  switch (line.does) {
    case action::offload:
      co_await offload(r, line.amount);
      break;
    case action::sleep_until_deadline:
      co_await sleep_until_deadline(r, line.amount);
      break;
    case action::read_by:
      co_await read_by(r, line.amount);
      break;
    case action::sleep:
      co_await write_around_a_sleep(r, line.amount);
      break;
    case action::until_full:
      co_await write_much(r, line.amount);
      break;
    case action::read:
    case action::read_exactly:
    case action::read_until:
    case action::read_message:
      r.way = line.does;
      break;
    default:
      (void)perform(r.on, r.l, r.s, line.does, line.amount);
  }
}

// After a stop or an abort, which last, it begins more operations, as a retry with back-off does.
awaitable<> begin_more(reading& r) {
  if (r.s.failure() != errc::stopped && r.s.failure() != errc::aborted) co_return;
  for (int i = 0; i < 3; ++i)
    if (!co_await sleep_for(std::chrono::hours(1)))
      r.on.report(r.l, "an operation that began after the end was not cancelled");
  if (r.s.write("lost")) r.on.report(r.l, "output after the end is accepted");
}

}  // namespace

awaitable<> coroutine_program::run(stream& s, stage& on, life& l) {
  struct end_scope {
    life& l;
    stream& s;
    ~end_scope() {
      l.working = false;
      l.why = s.failure();
      ++l.ended;
      l.over = true;
      if (l.breaks_off) std::exchange(l.breaks_off, nullptr)();
    }
  };
  if (l.opened++ > 0) on.report(l, "the coroutine is started twice");
  {
    const std::lock_guard lock(l.mutex);
    l.id = s.id();
  }
  l.working = true;
  const end_scope at_end{l, s};
  write_record(on, l, s, action::reply, record_head);
  reading r{.s = s, .on = on, .l = l};
  while (const auto line = co_await next_command(r)) {
    co_await act(r, *line);
    if (line->does == action::ends) break;
  }
  co_await begin_more(r);
}

}  // namespace quintet::testing
