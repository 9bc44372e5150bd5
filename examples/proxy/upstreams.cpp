// SPDX-License-Identifier: BSL-1.0
// upstreams: tries upstreams one after the other, and keeps pools of unused connections.
#include "proxy/upstreams.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>

namespace example::proxy {
namespace {

/// Returns whether the peer has not closed the connection. Input may have arrived already.
bool is_open(const quintet::stream_handle& stream) noexcept {
  char byte = 0;
  const auto n = ::recv(stream.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 || (n < 0 && errno == EAGAIN);
}

}  // namespace

upstreams::~upstreams() {
  for (shelf& s : shelves_)
    for (unused& u : s.ready) loop_.io().close(std::move(u.stream));
}

// event_loop::use() constructs this object without a service, so the first connect() sets it.
void upstreams::begin(service& all) {
  if (std::exchange(all_, &all)) return;
  shelves_.resize(all.options.upstreams.size());
  if (all.options.pool == 0) return;
  loop_.after(quintet::duration::zero(), [this] { tidy_shelves(); });  // after the current client's attempt
  loop_.every(std::chrono::seconds(1), [this] { tidy_shelves(); });
}

quintet::connect_options upstreams::connect_options() const {
  return {.timeout = all_->options.connect_timeout, .socket = all_->options.socket};
}

void upstreams::connect(service& all, done_function done) {
  begin(all);
  const std::size_t count = shelves_.size();
  const std::size_t first = all.next_upstream.fetch_add(1, std::memory_order_relaxed) % count;
  const auto a = attempts_.emplace(attempts_.end());
  a->next = first;
  a->left = count;
  a->done = std::move(done);
  try_next(a);
}

void upstreams::try_next(attempt_list::iterator a) {
  if (loop_.stopping()) return end(a, quintet::errc::stopped);
  const std::size_t to = std::exchange(a->next, (a->next + 1) % shelves_.size());
  --a->left;
  if (quintet::stream_handle ready = take_ready(to)) return end(a, {}, std::move(ready));
  a->connecting.emplace(loop_, connect_options(), [this, a](quintet::error_code failed, quintet::stream_handle stream) {
    if (!failed) return end(a, {}, std::move(stream));
    all_->counts.failures.fetch_add(1, std::memory_order_relaxed);
    if (a->left == 0) return end(a, failed);
    try_next(a);
  });
  a->connecting->start(all_->options.upstreams[to]);
}

void upstreams::end(attempt_list::iterator a, quintet::error_code failed, quintet::stream_handle stream) {
  const done_function done = std::move(a->done);
  attempts_.erase(a);
  done(failed, std::move(stream));
}

quintet::stream_handle upstreams::take_ready(std::size_t upstream) {
  std::deque<unused>& ready = shelves_[upstream].ready;
  while (!ready.empty()) {
    quintet::stream_handle stream = std::move(ready.front().stream);
    ready.pop_front();
    if (is_open(stream)) {
      fill(upstream);
      all_->counts.warm.fetch_add(1, std::memory_order_relaxed);
      return stream;
    }
    loop_.io().close(std::move(stream));
  }
  return {};
}

void upstreams::tidy_shelves() {
  const quintet::time_point too_old = loop_.now() - keeps_for;
  for (std::size_t i = 0; i < shelves_.size(); ++i) {
    std::erase_if(shelves_[i].ready, [&](unused& u) {
      const bool goes = u.since < too_old || !is_open(u.stream);
      if (goes) loop_.io().close(std::move(u.stream));
      return goes;
    });
    fill(i);
  }
}

// A failed attempt is repeated by the next tidy_shelves().
void upstreams::fill(std::size_t upstream) {
  shelf& s = shelves_[upstream];
  if (all_->draining.load(std::memory_order_relaxed) || loop_.stopping()) return;
  for (std::size_t n = s.ready.size() + s.connecting.size(); n < all_->options.pool; ++n) {
    const auto at = s.connecting.emplace(s.connecting.end());
    at->emplace(loop_, connect_options(), [this, &s, at](quintet::error_code failed, quintet::stream_handle stream) {
      s.connecting.erase(at);
      if (!failed) s.ready.push_back({std::move(stream), loop_.now()});
    });
    (*at)->start(all_->options.upstreams[upstream]);
  }
}

}  // namespace example::proxy
