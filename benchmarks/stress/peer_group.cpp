// SPDX-License-Identifier: BSL-1.0
// peer_group.cpp: threads with the same steps, which meet at the beginning and the end of each step.
#include "stress/peer_group.hpp"

#include "compare/child_process.hpp"
#include "stress/peers.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace quintet::bench {

peer_group::peer_group(const stress_run& run, const socket_address& to, unsigned peers, unsigned tables)
    : run_(run), meeting_(static_cast<std::ptrdiff_t>(tables) + 1) {
  for (unsigned i = 0; i < tables; ++i) {
    const unsigned share = peers / tables + (i < peers % tables ? 1 : 0);
    threads_.emplace_back([this, to, share, tables] { work(to, share, tables > 1); });
  }
}

// After a failed step, releases the threads that wait for the next one.
peer_group::~peer_group() {
  if (!have_left_) meeting_.arrive_and_drop();
}

void peer_group::work(const socket_address& to, unsigned peers, bool own_table) {
  try {
    if (own_table && ::unshare(CLONE_FILES) != 0)
      throw run_error(
          fmt::format("the peers cannot have tables of descriptors of their own: {}", std::strerror(errno)));
    run_peers(to, peers);
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    meeting_.arrive_and_drop();
  }
}

void peer_group::run_peers(const socket_address& to, unsigned peers) {
  meeting_.arrive_and_wait();
  std::vector<unique_fd> open = open_peers(run_, to, peers);
  asking all(run_, open);
  all.listen(open.size(), patience_);
  meeting_.arrive_and_wait();  // end of connect_and_ask()
  meeting_.arrive_and_wait();
  all.listen(open.size() + 1, length_);  // watches for the whole time: the server must not close any
  {
    const std::lock_guard lock(mutex_);
    for (const fate f : {fate::waiting, fate::answered, fate::closed, fate::wrong})
      counts_[static_cast<std::size_t>(f)] += all.count(f);
  }
  meeting_.arrive_and_wait();  // end of watch()
  meeting_.arrive_and_wait();
  reset_all(open);
  meeting_.arrive_and_wait();  // end of reset()
}

void peer_group::meet() {
  meeting_.arrive_and_wait();
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void peer_group::connect_and_ask(std::chrono::nanoseconds patience) {
  patience_ = patience;
  meet();
  meet();
}

void peer_group::watch(std::chrono::nanoseconds length) {
  length_ = length;
  meet();
  meet();
}

void peer_group::reset() {
  meet();
  meet();
  have_left_ = true;
}

}  // namespace quintet::bench
