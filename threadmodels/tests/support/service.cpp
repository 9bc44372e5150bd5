// SPDX-License-Identifier: BSL-1.0
// service: the protocol, then the two flavours.
#include "service.hpp"

#include <quintet/net/stream.hpp>

#include <charconv>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace quintet::test {
namespace {

std::size_t number(bytes text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bytes first_word(bytes text) { return text.substr(0, text.find_first_of(" \n")); }
bytes after_first_word(bytes text) {
  const std::size_t space = text.find(' ');
  return space == bytes::npos ? bytes() : text.substr(space + 1);
}

/// Returns numbered blocks, so that a test finds where a piece is missing or doubled.
std::string pattern(std::size_t size) {
  static const std::string block(1000, '-');
  std::string result;
  result.reserve(size + block.size() + 20);
  for (std::size_t i = 0; result.size() < size; ++i) result.append(std::to_string(i)).append(block);
  result.resize(size);
  return result;
}

}  // namespace

answer session::open(bool on_loop) {
  visit_ = &context_->seen.opened();
  const presence here(seen(), visit_);
  visit_->callbacks.add(on_loop);
  if (context_->options.throw_in_open_of == static_cast<int>(visit_->number)) throw std::runtime_error("open");
  if (!options().greeting) return {};
  return {.text = "hello\n", .close = options().close_after_greeting};
}

void session::close(error_code why, bool on_loop) {
  {
    const presence here(seen(), visit_);
    if (!visit_) return;
    visit_->callbacks.add(on_loop);
  }
  seen().closed(*visit_, why);
}

std::size_t session::complete(bytes unread) {
  const std::size_t end = unread.find('\n', looked_at_);
  if (end == bytes::npos) {
    looked_at_ = unread.size();
    return 0;
  }
  std::size_t size = end + 1;
  if (unread.starts_with("raw ")) size += number(unread.substr(4, end - 4));
  if (size > unread.size()) {
    looked_at_ = end;
    return 0;
  }
  looked_at_ = 0;
  return size;
}

bool session::is_expensive(bytes request) {
  const bytes verb = first_word(request);
  return verb == "delay" || verb == "block" || verb == "sum" || verb.ends_with("-expensive");
}

void session::note_callback(bool on_loop) { visit_->callbacks.add(on_loop); }

answer session::reply_to(bytes request, bool on_loop) {
  const presence here(seen(), visit_);
  ++visit_->requests;
  visit_->work.add(on_loop);
  if (request.starts_with("raw ")) return {std::string(request.substr(request.find('\n') + 1))};
  request.remove_suffix(1);
  return execute(first_word(request), after_first_word(request));
}

answer session::execute(bytes verb, bytes rest) {
  if (verb == "echo") return {std::string(rest) + '\n'};
  if (verb == "count") return {std::to_string(visit_->requests) + '\n'};
  if (verb == "size") return {pattern(number(rest)) + '\n'};
  if (verb == "delay") {
    std::this_thread::sleep_for(std::chrono::microseconds(number(rest)));
    return {std::string(after_first_word(rest)) + '\n'};
  }
  if (verb == "block") return {context_->block.wait() ? "unblocked\n" : "nobody opened the gate\n"};
  if (verb == "sum") return {std::to_string(number(rest) * (number(rest) + 1) / 2) + '\n'};
  if (verb == "throw" || verb == "throw-expensive") throw std::runtime_error("asked to throw");
  if (verb == "catch-expensive") throw std::invalid_argument(std::string(rest));
  if (verb == "stop") {
    context_->stop_server();
    return {"stopping\n"};
  }
  if (verb == "flush") return {.flush = true};
  if (verb == "quit") return {.text = "bye\n", .close = true};
  return {"what?\n"};
}

// ---- Callbacks ------------------------------------------------------------------------------------------------------

void callback_service::on_open(connection& c) {
  const answer a = session_.open(c.loop().in_this_thread());
  c.write(a.text);
  if (a.close) c.close();
}

std::size_t callback_service::operator()(connection& c, bytes in) {
  const bool on_loop = c.loop().in_this_thread();
  if (!session_.current()) {
    session_.seen().fault("data before on_open");
    return in.size();
  }
  session_.note_callback(on_loop);
  std::size_t used = 0;
  while (const std::size_t size = session_.complete(in.substr(used))) {
    answer a;
    try {
      a = session_.reply_to(in.substr(used, size), on_loop);
    } catch (const std::invalid_argument& e) {
      a.text = std::string("caught ") + e.what() + '\n';
    }
    used += size;
    c.write(a.text);
    if (a.flush) c.flush();
    if (a.close) {
      c.close();
      break;
    }
    if (c.must_yield()) break;
  }
  return used;
}

void callback_service::on_close(connection& c, error_code why) {
  if (c.peer_address().empty()) session_.seen().fault("on_close without the peer's address");
  session_.close(why, c.loop().in_this_thread());
  if (session_.options().throw_at_close) throw std::runtime_error("close");
}

// ---- A coroutine ----------------------------------------------------------------------------------------------------

namespace {

/// Closes the session however the coroutine ends.
struct at_end {
  session& what;
  stream& on;
  ~at_end() {
    if (on.peer_address().empty()) what.seen().fault("a coroutine ends without the peer's address");
    what.close({}, on.loop().in_this_thread());
  }
};

awaitable<answer> reply(stream& s, session& session, bytes request) {
  if (!session::is_expensive(request)) co_return session.reply_to(request, s.loop().in_this_thread());
  answer a;
  try {
    a = co_await s.offload([&] { return session.reply_to(request, s.loop().in_this_thread()); });
  } catch (const std::invalid_argument& e) {
    a.text = std::string("caught ") + e.what() + '\n';
  }
  co_return a;
}

awaitable<> serve(stream& s, service_context& context) {
  session session(context);
  const at_end guard{session, s};
  const answer greeting = session.open(s.loop().in_this_thread());
  s.write(greeting.text);
  if (greeting.close) co_return;

  std::string pending;
  while (const auto in = co_await s.read()) {
    session.note_callback(s.loop().in_this_thread());
    pending.append(*in);
    std::size_t used = 0;
    while (const std::size_t size = session.complete(bytes(pending).substr(used))) {
      const answer a = co_await reply(s, session, bytes(pending).substr(used, size));
      session.note_callback(s.loop().in_this_thread());
      used += size;
      s.write(a.text);
      if (a.flush) s.flush();
      if (a.close || !co_await s.until_writable()) co_return;
    }
    pending.erase(0, used);
    if (pending.size() > context.options.max_request) co_return;
  }
  if (context.options.throw_at_close) throw std::runtime_error("close");
}

}  // namespace

awaitable<> coroutine_service::operator()(stream& s) const { return serve(s, *context_); }

}  // namespace quintet::test
