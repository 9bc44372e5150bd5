// SPDX-License-Identifier: BSL-1.0
// room: broadcasts a line of one guest to all others.
#include "chat/room.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace example::chat {

namespace {

bool is_control(unsigned char ch) { return ch < ' ' || ch == 0x7F; }

/// Returns whether the text begins with one of U+0080 to U+009F in UTF-8, which are control characters too.
bool begins_with_c1(quintet::bytes text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) - 0x80U < 0x20;
}

/// Replaces control characters, which the terminals of other guests would obey.
std::string printable(quintet::bytes text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const bool is_c1 = begins_with_c1(text);
    shown += is_c1 || is_control(static_cast<unsigned char>(text.front())) ? '?' : text.front();
    text.remove_prefix(is_c1 ? 2 : 1);
  }
  return shown;
}

}  // namespace

bool room::enter(quintet::connection& c) {
  const std::lock_guard lock(mutex_);
  if (present_.size() >= most_) return false;
  present_.push_back(c.id());
  return true;
}

void room::leave(quintet::connection_id who) {
  const std::lock_guard lock(mutex_);
  std::erase(present_, who);
}

// Holds the lock only while the ids are copied, not while anything is sent.
void room::say(quintet::connection& from, const std::string& line) {
  std::vector<quintet::connection_id> others;
  {
    const std::lock_guard lock(mutex_);
    others.reserve(present_.size());
    std::ranges::remove_copy(present_, std::back_inserter(others), from.id());
  }
  from.registry().broadcast(others, std::make_shared<const std::string>(line));
}

std::size_t room::size() const {
  const std::lock_guard lock(mutex_);
  return present_.size();
}

guest::guest(room& r, const manners& m) noexcept
    : room_(&r), idle_(m.idle_s), lines_(static_cast<unsigned>(m.lines_per_second), static_cast<unsigned>(m.burst)) {}

void guest::on_open(quintet::connection& c) { c.write("your name?\n"); }

// The library delivers no line after close().
void guest::operator()(quintet::connection& c, quintet::bytes text) {
  if (text.ends_with('\r')) text.remove_suffix(1);  // telnet
  if (text == "/quit") return c.close();
  if (is_too_fast(c)) return;
  if (name_.empty()) return introduce(c, printable(text));
  room_->say(c, name_ + ": " + printable(text) + "\n");
}

// Warns once, not for each line: a guest that does not read would collect the warnings as output.
bool guest::is_too_fast(quintet::connection& c) {
  const quintet::time_point now = c.loop().time().now();
  if (lines_.wait(now) > quintet::duration::zero()) {
    if (!std::exchange(warned_, true)) c.write("too fast: nobody hears you\n");
    return true;
  }
  lines_.take(now);
  warned_ = false;
  return false;
}

void guest::introduce(quintet::connection& c, std::string name) {
  if (name.empty() || name.size() > 32) {
    c.write("a name has 1 to 32 characters\n");
    if (++attempts_ == manners::attempts) c.close();
    return;
  }
  if (!room_->enter(c)) {
    c.write("the room is full\n");
    return c.close();
  }
  name_ = std::move(name);
  auto limits = c.limits();
  limits.idle_timeout = idle_;  // a guest may only listen
  c.set_limits(limits);
  c.write("welcome, there are " + std::to_string(room_->size()) + " of us\n");
  room_->say(c, name_ + " has come\n");
}

void guest::on_drain(quintet::connection& c) { c.write("the server is going down\n"); }

void guest::on_close(quintet::connection& c, quintet::error_code) {
  if (name_.empty()) return;
  room_->leave(c.id());
  room_->say(c, name_ + " has gone\n");
}

}  // namespace example::chat
