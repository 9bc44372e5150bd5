// SPDX-License-Identifier: BSL-1.0
// room: a line from one becomes one broadcast to the others.
#include "chat/room.hpp"

#include <algorithm>
#include <memory>

namespace example::chat {

void room::enter(quintet::connection& c) {
  const std::lock_guard lock(mutex_);
  present_.push_back(c.id());
}

void room::leave(quintet::connection_id who) {
  const std::lock_guard lock(mutex_);
  std::erase(present_, who);
}

// The lock is held for a copy of ids, not while anything is sent.
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

void guest::on_open(quintet::connection& c) { c.write("your name?\n"); }

void guest::operator()(quintet::connection& c, quintet::bytes text) {
  if (text.ends_with('\r')) text.remove_suffix(1);  // telnet
  if (text == "/quit") return c.close();
  if (!name_.empty()) return room_->say(c, name_ + ": " + std::string(text) + "\n");
  if (text.empty() || text.size() > 32) {
    c.write("a name has 1 to 32 characters\n");
    return;
  }
  name_ = text;
  room_->enter(c);
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
