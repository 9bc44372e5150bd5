// SPDX-License-Identifier: BSL-1.0
// service: what the handlers do with each request.
#include "service.hpp"

#include "messages.hpp"

#include <quintet/net/asio.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

namespace quintet::test::soak {
namespace {

/// Reads "<number> " from the front of `text`.
std::uint32_t take_number(bytes& text) {
  std::uint32_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (failed != std::errc() || text.empty() || text.front() != ' ') throw std::runtime_error("the request is damaged");
  text.remove_prefix(1);
  return value;
}

std::string head_of(const request& r) { return "r " + std::to_string(r.number) + ' ' + std::to_string(r.size) + '\n'; }

void write_in_pieces(connection& c, bytes all) {
  for (; !all.empty(); all.remove_prefix(std::min<std::size_t>(all.size(), 20'000)))
    if (!c.write(all.substr(0, 20'000))) return;
}

// Any of the ways to write; the bytes are the same.
void write_reply(connection& c, const request& r) {
  const std::string head = head_of(r);
  std::string body = pattern(r.number, r.size);
  switch (r.verb == 'b' ? 3U : r.number % 3) {
    case 0: {
      const std::array<bytes, 2> both{head, body};
      c.write(std::span(both));
      return;
    }
    case 1:
      c.write(head);
      c.write(std::make_shared<const std::string>(std::move(body)));
      return;
    case 2:
      c.write(head + body);
      return;
    default:
      c.write(head);
      write_in_pieces(c, body);
  }
}

void change_limits(connection& c, std::uint32_t number) {
  connection_limits l = c.limits();
  l.high_watermark = 32 * 1024 * (1 + number % 8);
  l.low_watermark = l.high_watermark / 2;
  c.set_limits(l);
}

void move(stage& on, connection& c, std::uint32_t number) {
  if (number % 3 == 0) {
    (void)c.move_to_priority_loop();
  } else if (event_loop* const to = on.loop(number)) {
    (void)c.move_to(*to);
  }
}

void ask_when_sent(stage& on, connection& c) {
  c.when_sent([&on](error_code) { ++on.told; });
  ++on.asked;
}

}  // namespace

std::string to_line(const request& r, std::size_t filler) {
  return std::string(1, r.verb) + ' ' + std::to_string(r.number) + ' ' + std::to_string(r.size) + ' ' +
         std::string(filler, '.') + '\n';
}

std::string pattern(std::uint32_t number, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (number * 7 + i + i / 251) % 26);
  return text;
}

std::size_t parse(bytes in, request& r) {
  const std::size_t end = in.find('\n');
  if (end == bytes::npos) return 0;
  bytes line = in.substr(0, end);
  if (line.size() < 2 || verbs.find(line[0]) == bytes::npos) throw std::runtime_error("the request is damaged");
  r.verb = line[0];
  line.remove_prefix(2);
  r.number = take_number(line);
  r.size = take_number(line);
  return end + 1;
}

void stage::report(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (reported_.empty()) reported_ = what;
}
std::string stage::reported() const {
  const std::lock_guard lock(mutex_);
  return reported_;
}
void stage::add_paused(connection_id id) {
  const std::lock_guard lock(mutex_);
  paused_.push_back(id);
}
std::vector<connection_id> stage::take_paused() {
  const std::lock_guard lock(mutex_);
  return std::exchange(paused_, {});
}

// ---- One connection -------------------------------------------------------------------------------------------------

void visit::open() {
  if (state_ != state::fresh) stage_->report("on_open is called twice");
  state_ = state::open;
  ++stage_->opened;
}
void visit::close() {
  if (state_ != state::open) stage_->report("the end is told twice, or without an opening");
  state_ = state::closed;
  ++stage_->closed;
}

visit::turn::turn(visit& v) : visit_(v) {
  if (std::exchange(v.working_, true)) v.stage_->report("two calls of one handler overlap");
  if (v.state_ != state::open) v.stage_->report("the handler is called outside of its connection's life");
}
visit::turn::~turn() { visit_.working_ = false; }

bool visit::serve(connection& c, const request& r) {
  ++stage_->requests;
  if (r.verb == 'x') throw std::runtime_error("asked to throw");
  if (r.verb == 'p') {
    stage_->add_paused(c.id());
    c.pause_reading();
  }
  if (r.verb == 'l') change_limits(c, r.number);
  if (r.verb == 'm') move(*stage_, c, r.number);
  if (r.verb == 'e' && stage_->bus() && r.number % 4 == 0) stage_->bus()->send_from_handler(r.number);
  write_reply(c, r);
  if (r.verb == 'n') ask_when_sent(*stage_, c);
  if (r.verb == 'f') c.flush();
  if (r.verb == 'c') c.close();
  return r.verb != 'c';
}

std::size_t callback_service::operator()(connection& c, bytes in) {
  const visit::turn now(visit_);
  std::size_t used = 0;
  request r;
  while (const std::size_t size = parse(in.substr(used), r)) {
    used += size;
    if (!visit_.serve(c, r) || c.must_yield()) break;
  }
  return used;
}

namespace {

struct at_end {
  visit& what;
  ~at_end() { what.close(); }
};

// Without memory for the wait, the connection ends as with any handler that throws.
awaitable<> wait_a_moment(stream& s, std::uint32_t number) {
  boost::asio::steady_timer timer(s.get_executor());
  timer.expires_after(std::chrono::microseconds(number % 2000));
  (void)co_await timer.async_wait(boost::asio::as_tuple(boost::asio::deferred));
}

awaitable<bool> serve(stream& s, visit& v, request r) {
  if (r.verb == 'w') co_await wait_a_moment(s, r.number);
  if (r.verb == 'o') co_return co_await s.offload([&] { return v.serve(s, r); });
  co_return v.serve(s, r);
}

awaitable<> run(stream& s, stage& on) {
  visit v(on);
  v.open();
  const at_end ending{v};
  for (;;) {
    const auto line = co_await s.read_until("\n", 1024 * 1024);
    if (!line) co_return;
    request r;
    (void)parse(*line, r);
    const visit::turn now(v);
    if (!co_await serve(s, v, r) || !co_await s.until_writable()) co_return;
  }
}

}  // namespace

awaitable<> coroutine_service::operator()(stream& s) { return run(s, *stage_); }

}  // namespace quintet::test::soak
