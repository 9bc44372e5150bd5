// SPDX-License-Identifier: BSL-1.0
// placement: starts, chooses and ends the loops of the models.
#include "placement.hpp"

#include "../../net/loop/allowed_cpus.hpp"
#include "idle_cpus.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

std::vector<int> cpus_of(const loop_group_options& o) {
  const placement_options& p = o.placement;
  return p.idle_cpus ? idlest_cpus(p.cpus.empty() ? allowed_cpus() : p.cpus, o.loops) : p.cpus;
}

}  // namespace

on_loop_group::on_loop_group(loop_group_options options) : options_(std::move(options)), open_(options_.loops) {
  const std::vector<int> cpus = cpus_of(options_);
  for (unsigned i = 0; i < options_.loops; ++i) {
    const loop_options each{.tuning = options_.each,
                            .cpu = cpus.empty() ? -1 : cpus[i % cpus.size()],
                            .own_descriptors = options_.placement.own_descriptors};
    ring_.push_back(std::make_unique<member>(make_engine(options_.engine), each));
  }
}

void on_loop_group::start(event_loop&) {
  for (std::size_t i = 0; i < ring_.size(); ++i)
    ring_[i]->running.thread.emplace(ring_[i]->running.loop, "qnt-loop-" + std::to_string(i));
}

event_loop& on_loop_group::place(const address& from) {
  member& m = *ring_.at(choose(from));  // at() checks what place_by has returned
  m.open.fetch_add(1, std::memory_order_relaxed);
  return m.running.loop;
}

std::size_t on_loop_group::choose(const address& from) {
  if (options_.placement.place_by) {
    count_open();
    return options_.placement.place_by(from, open_);
  }
  switch (options_.placement.policy) {
    case placement_policy::least_connections:
      return least_filled();
    case placement_policy::peer_hash:
      if (from.is_ip()) return std::hash<std::string>()(from.host()) % ring_.size();
      return 0;
    case placement_policy::round_robin:
      break;
  }
  return next_++ % ring_.size();
}

// Begins with the next loop in turn, so that loops with equal counts are filled evenly.
std::size_t on_loop_group::least_filled() {
  count_open();
  std::size_t best = next_ % ring_.size();
  for (std::size_t i = 1; i < ring_.size(); ++i) {
    const std::size_t other = (next_ + i) % ring_.size();
    if (open_[other] < open_[best]) best = other;
  }
  next_ = best + 1;
  return best;
}

void on_loop_group::count_open() noexcept {
  for (std::size_t i = 0; i < ring_.size(); ++i)
    open_[i] = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, ring_[i]->open.load(std::memory_order_relaxed)));
}

void on_loop_group::count(event_loop& loop, std::ptrdiff_t change) noexcept {
  for (const auto& m : ring_)
    if (&m->running.loop == &loop) m->open.fetch_add(change, std::memory_order_relaxed);
}

// Stops all loops before it joins any thread.
void on_loop_group::stop() noexcept {
  for (auto& m : ring_) m->running.loop.stop();
  for (auto& m : ring_) m->running.thread.reset();
}

event_loop& on_own_loop::place() {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.stopping) throw boost::system::system_error(errc::stopped);
  if (!s.idle.empty()) {
    event_loop* loop = s.idle.back();
    s.idle.pop_back();
    s.fewest_idle = std::min(s.fewest_idle, s.idle.size());
    return *loop;
  }
  if (s.all.size() >= max_threads_)
    throw boost::system::system_error(errc::too_many_threads, std::to_string(max_threads_) + " connections");
  s.idle.reserve(s.all.size() + 1);
  s.all.reserve(s.all.size() + 1);
  s.ending.reserve(ending_at_once);
  auto running = std::make_unique<running_loop>(make_blocking_engine(), options_);
  running->thread.emplace(running->loop, "qnt-conn-" + std::to_string(s.next_number++));
  return s.all.emplace_back(std::move(running))->loop;
}

void on_own_loop::release(event_loop& loop) noexcept {
  state& s = *state_;
  const std::lock_guard lock(s.mutex);
  s.idle.push_back(&loop);
  if (s.stopping || s.watched || s.idle.size() <= spare_threads) return;
  s.watched = true;
  s.main->post(s);  // under the lock, so that stop() does not overtake it
}

// Runs on the main loop.
void on_own_loop::state::watch(work_item& item) noexcept {
  auto& s = static_cast<state&>(item);
  const std::lock_guard lock(s.mutex);
  s.fewest_idle = s.idle.size();
  if (!s.stopping) s.main->start(s, spare_time);
}

void on_own_loop::state::expired() noexcept {
  {
    const std::lock_guard lock(mutex);
    const std::size_t unneeded = std::max(fewest_idle, spare_threads) - spare_threads;
    const std::size_t wanted = std::min(unneeded, ending_at_once), ended = end_spare(wanted);
    const bool more = ended == wanted && ended < unneeded;
    fewest_idle = more ? fewest_idle - ended : idle.size();
    watched = idle.size() > spare_threads;
    if (watched) main->start(*this, more ? ending_interval : spare_time);
  }
  ending.clear();  // joins their threads, which end_spare() has told to stop
}

// Ends at most `most` of the threads that have been idle for longest; returns how many. Skips loops with detached work,
// which a handler has started and which outlives its connection. Requires the lock.
std::size_t on_own_loop::state::end_spare(std::size_t most) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < fewest_idle && count < most; ++i)
    if (!idle[i]->has_detached_work()) std::swap(idle[i], idle[count++]);
  const std::span spare(idle.data(), count);
  for (event_loop* loop : spare) loop->stop();
  std::ranges::sort(spare);
  const auto stays = [&](const auto& running) { return !std::ranges::binary_search(spare, &running->loop); };
  const auto first = std::partition(all.begin(), all.end(), stays);
  std::for_each(first, all.end(), [&](const auto& running) { past.add(running->loop.counters()); });
  std::move(first, all.end(), std::back_inserter(ending));
  all.erase(first, all.end());
  idle.erase(idle.begin(), idle.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

void on_own_loop::stop() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->cancel();
  // Not under the lock: connections that close now call release().
  for (auto& running : state_->all) running->loop.stop();
  for (auto& running : state_->all) running->thread.reset();
}

}  // namespace quintet
