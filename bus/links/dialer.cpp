// SPDX-License-Identifier: BSL-1.0
// dialer: tries the candidates one by one, and waits between attempts.
#include "dialer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace quintet::bus {

std::vector<candidate> candidates_of(const std::vector<std::string>& addresses, bool shared_memory) {
  std::vector<candidate> all{{bus_route::mem, address("unix:@mem")}};
  for (std::string_view at : addresses) {
    if (at == "mem:") continue;  // always tried
    const bool is_unix = at.starts_with("unix:");
    if (at.starts_with("tcp:")) at.remove_prefix(4);
    const destination to(at);
    const auto add = [&](bus_route route) {
      all.insert(std::ranges::upper_bound(all, route, {}, &candidate::route), candidate{route, to});
    };
    if (is_unix && shared_memory) add(bus_route::shm);
    add(is_unix ? bus_route::unix_socket : bus_route::tcp);
  }
  return all;
}

dialer::dialer(node_context& node, dialer_user& user)
    : node_(node), user_(user), backoff_(node.options().reconnect), timer_([this] { expired(); }) {}

void dialer::use(std::vector<candidate> all) {
  all_ = std::move(all);
  prefer(preferred_);
}

// The preferred route comes first; the others follow only while there is no connection, see wants().
void dialer::prefer(std::optional<bus_route> route) noexcept {
  stop();
  preferred_ = route;
  const auto key = [route](const candidate& c) { return std::pair(route && c.route != *route, c.route); };
  for (auto i = all_.begin(); i != all_.end(); ++i)  // stable, and without memory
    std::rotate(std::ranges::upper_bound(all_.begin(), i, key(*i), {}, key), i, i + 1);
  begin();
}

void dialer::stop() noexcept {
  timer_.cancel();
  connector_.reset();
  waits_for_answer_ = false;
  user_.abandon_pending();
}

void dialer::begin() noexcept {
  if (!is_on()) return;
  next_ = 0;
  try_next();
}

void dialer::try_next() noexcept {
  timer_.cancel();
  while (next_ < all_.size() && !node_.loop().stopping()) {
    const candidate& c = all_[next_++];
    try {
      if (user_.wants(c.route) && try_one(c)) return;
    } catch (...) {  // no memory for the attempt: the next one, or a later one
    }
  }
  if (!current_route_) node_.counters().failed_attempts.add();
  schedule_retry();
}

bool dialer::try_one(const candidate& c) {
  if (c.route == bus_route::mem) {
    if (!user_.connect_in_process()) return false;
    wait_for_answer();
    return true;
  }
  connect_options how = node_.options().connecting;
  how.upgrade = c.route == bus_route::shm ? connection_upgrade::shared_memory : connection_upgrade::none;
  if (c.route != bus_route::tcp && !how.may_be_server)
    how.may_be_server = is_own_user;  // as the node demands of those that connect
  connector_.emplace(node_.loop(), how, [this, route = c.route](error_code failed, stream_handle stream) {
    connected(route, failed, std::move(stream));
  });
  connector_->start(c.to);
  return true;
}

// Asked for shared memory, a connector falls back to the Unix socket.
void dialer::connected(bus_route route, error_code failed, stream_handle stream) noexcept {
  connector_.reset();
  if (failed) return try_next();
  if (route == bus_route::shm && !stream.carried()) route = bus_route::unix_socket;
  try {
    if (user_.wants(route)) {
      user_.attach(std::move(stream), route);
      return wait_for_answer();
    }
  } catch (...) {  // no memory
  }
  node_.loop().io().close(std::move(stream));
  try_next();
}

void dialer::wait_for_answer() noexcept {
  waits_for_answer_ = true;
  node_.loop().start(timer_, node_.options().connecting.timeout);
}

void dialer::expired() noexcept {
  if (!std::exchange(waits_for_answer_, false)) return begin();
  user_.abandon_pending();
  try_next();
}

void dialer::pending_lost() noexcept {
  if (std::exchange(waits_for_answer_, false)) try_next();
}

void dialer::established(bus_route route) noexcept {
  stop();  // if the peer has connected meanwhile
  current_route_ = route;
  established_at_ = node_.loop().now();
  schedule_retry();
}

// `mem` does not count as the best route: the peer's node may not exist in this process.
bool dialer::is_best(bus_route route) const noexcept {
  if (preferred_) return route == *preferred_;
  return all_.size() < 2 || route <= all_[1].route;
}

// A connection that has lasted is made again at once. Others wait, so that two nodes that cannot work together do not
// spin.
void dialer::current_lost() noexcept {
  current_route_.reset();
  if (!is_on() || connector_ || waits_for_answer_ || node_.loop().stopping()) return;
  if (node_.loop().now() - established_at_ < node_.options().reconnect.lasted) return schedule_retry();
  backoff_.reset();
  begin();
}

void dialer::schedule_retry() noexcept {
  if (!is_on() || node_.loop().stopping()) return;
  if (current_route_ && is_best(*current_route_)) return;
  const duration wait = current_route_ ? node_.options().upgrade_interval : backoff_.next(node_.random());
  node_.loop().start(timer_, wait);
}

}  // namespace quintet::bus
