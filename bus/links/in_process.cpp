// SPDX-License-Identifier: BSL-1.0
// in_process: a map with a lock. The lock is held during a post to a node, so the node still exists.
#include "in_process.hpp"

#include "node.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <unistd.h>

namespace quintet::bus::in_process {
namespace {

struct entry {
  node* at;
  pid_t process;  // another one's after fork()
};
struct table {
  std::mutex mutex;
  std::map<std::uint64_t, entry> all;
};

// Never destroyed: a node may end after the static objects.
table& nodes() {
  static table& t = *new table;
  return t;
}

}  // namespace

void add(node& n) {
  table& t = nodes();
  const std::lock_guard lock(t.mutex);
  const auto [at, is_new] = t.all.try_emplace(n.id(), entry{&n, ::getpid()});
  if (is_new) return;
  if (at->second.process == ::getpid())
    throw config_error("id is " + std::to_string(n.id()) + ", as of another node of this process; it must be unique");
  at->second = {&n, ::getpid()};
}

void remove(node& n) noexcept {
  table& t = nodes();
  const std::lock_guard lock(t.mutex);
  const auto found = t.all.find(n.id());
  if (found != t.all.end() && found->second.at == &n) t.all.erase(found);
}

bool post_to(std::uint64_t id, const node& from, std::function<void(node&)> f) {
  table& t = nodes();
  const std::lock_guard lock(t.mutex);
  const auto found = t.all.find(id);
  if (found == t.all.end() || found->second.at == &from || found->second.process != ::getpid()) return false;
  node& to = *found->second.at;
  to.loop().post([&to, call = std::move(f)]() noexcept {
    try {
      call(to);
    } catch (...) {
      to.loop().counters().handler_errors.add();
    }
  });
  return true;
}

}  // namespace quintet::bus::in_process
