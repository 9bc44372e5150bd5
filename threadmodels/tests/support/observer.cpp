// SPDX-License-Identifier: BSL-1.0
// observer: records what the handlers see.
#include "observer.hpp"

#include <pthread.h>

#include <array>
#include <utility>

namespace quintet::test {

void sightings::add(bool on_the_loop) {
  ++(on_the_loop ? on_loop : elsewhere);
  std::string& name = threads[std::this_thread::get_id()];
  if (!name.empty()) return;
  std::array<char, 16> buffer{};
  ::pthread_getname_np(::pthread_self(), buffer.data(), buffer.size());
  name = buffer.data();
}

std::set<std::string> sightings::names() const {
  std::set<std::string> result;
  for (const auto& [id, name] : threads) result.insert(name);
  return result;
}

visit& observer::opened() {
  const std::lock_guard lock(mutex_);
  visit& v = visits_.emplace_back();
  v.number = visits_.size() - 1;
  changed_.notify_all();
  return v;
}

void observer::closed(visit& v, error_code why) {
  if (v.closed) return fault("closed twice");
  v.closed = true;
  v.reason = why;
  const std::lock_guard lock(mutex_);
  reasons_.push_back(why);
  changed_.notify_all();
}

void observer::fault(std::string what) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(what));
}

bool observer::await_opened(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return visits_.size() >= count; });
}

bool observer::await_closed(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return reasons_.size() >= count; });
}

std::size_t observer::opened_count() const {
  const std::lock_guard lock(mutex_);
  return visits_.size();
}

std::size_t observer::closed_count() const {
  const std::lock_guard lock(mutex_);
  return reasons_.size();
}

std::vector<std::string> observer::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

std::vector<error_code> observer::reasons() const {
  const std::lock_guard lock(mutex_);
  return reasons_;
}

presence::presence(observer& o, visit* v) : visit_(v) {
  if (!v) {
    o.fault("called before on_open");
    return;
  }
  if (v->closed) o.fault("called after on_close");
  if (v->inside.exchange(true)) o.fault("two callbacks of one connection at once");
}

presence::~presence() {
  if (visit_) visit_->inside = false;
}

}  // namespace quintet::test
