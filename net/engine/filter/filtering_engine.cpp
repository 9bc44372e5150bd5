// SPDX-License-Identifier: BSL-1.0
// filtering_engine: turns over ports that are due, and closes streams after their last records.
#include "filtering_engine.hpp"

#include "../kernel_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace quintet {

std::unique_ptr<engine> make_filtering_engine(std::unique_ptr<engine> inner) {
  return std::make_unique<filtering_engine>(std::move(inner));
}

filtering_engine::~filtering_engine() { drop_closing(); }

bool filtering_engine::poll(duration longest) {
  return has_chores_ ? poll_with_chores(longest) : inner().poll(longest);
}

bool filtering_engine::poll_with_chores(duration longest) {
  destroy_removed();
  if (closing_.size() > open_) std::erase_if(closing_, [](const auto& p) { return p->handle() < 0; });
  const bool worked = serve_due();
  if (worked || !due_.empty())
    longest = duration::zero();
  else if (open_ > 0)
    longest = std::clamp(next_deadline_ - clock::system().now(), duration::zero(), longest);
  const bool more = inner().poll(longest);
  if (open_ > 0) end_silent();
  has_chores_ = has_removed() || !due_.empty() || !closing_.empty();
  return more || worked;
}

// A port that becomes due meanwhile has its turn next time.
bool filtering_engine::serve_due() {
  if (due_.empty()) return false;
  serving_.swap(due_);
  for (std::size_t i = 0; i < serving_.size(); ++i) {
    filter_port* const p = serving_[i];
    if (!p) continue;
    p->is_due = false;
    p->serve();
  }
  serving_.clear();
  return true;
}

void filtering_engine::make_due(filter_port& p) noexcept {
  if (!std::exchange(p.is_due, true)) due_.push_back(&p);  // add_port() has made room
  has_chores_ = true;
}

int filtering_engine::descriptor() noexcept {
  if (!due_.empty()) wake();
  return decorating_engine::descriptor();
}

// ---- Channels -------------------------------------------------------------------------------------------------------

error_code filtering_engine::add(channel& c, stream_handle&& stream) {
  if (open_ > 0 && capabilities().single_stream) finish_closing();
  if (is_stream(c) && carried_filter::of(stream)) return add_port(static_cast<stream_channel&>(c), std::move(stream));
  return add_to_inner(c, std::move(stream));
}

error_code filtering_engine::watch(filter_port& p, stream_handle&& records) noexcept try {
  return add_to_inner(p, std::move(records));
} catch (const std::bad_alloc&) {
  return system_error_code(ENOMEM);
}

void filtering_engine::make_places() {
  if (!plain_) plain_ = std::make_unique_for_overwrite<char[]>(receive_size);
  if (!records_) records_ = std::make_unique_for_overwrite<char[]>(carried_filter::most_waiting);
  if (!merged_) merged_ = std::make_unique_for_overwrite<char[]>(most_merged);
}

// Bytes that wait in the state raised their events on another loop: this one serves them without an event.
error_code filtering_engine::add_port(stream_channel& c, stream_handle&& stream) try {
  const int handle = stream.get();
  if (handle < 0) return system_error_code(EBADF);
  make_places();
  reserve_for_port(handle);
  reserve_in(due_);
  reserve_in(serving_);
  const carried_filter& state = *carried_filter::of(stream);
  auto made = std::make_unique<filter_port>(*this, &c, std::move(stream));
  if (const error_code failed = made->start()) {
    stream = made->release();
    return failed;
  }
  if (!state.waiting().empty() || state.may_have_plain() || state.ended()) make_due(*made);
  serve(c, handle, std::move(made));
  return {};
} catch (const std::bad_alloc&) {
  return system_error_code(ENOMEM);
}

stream_handle filtering_engine::detach(filter_port& p) noexcept {
  if (p.is_due) std::ranges::replace(due_, &p, nullptr);
  std::ranges::replace(serving_, &p, nullptr);
  return p.release();
}

// ---- Closing --------------------------------------------------------------------------------------------------------

void filtering_engine::close(stream_handle&& stream) noexcept {
  const carried_filter* const state = carried_filter::of(stream);
  if (!state) return inner().close(std::move(stream));
  if (state->has_output() && !kernel_sockets::resets_when_closed(stream.get())) {
    if (keep_until_sent(stream)) return;
    sockets().reset_when_closed(stream.get());  // else a truncated reply would look complete
  }
  close_now(std::move(stream));
}

void filtering_engine::close_now(stream_handle&& stream) noexcept {
  const std::unique_ptr<transport> ends = stream.take_carried();
  inner().close({stream.release(), static_cast<carried_filter&>(*ends).take_below()});
}

// Returns false, and leaves the stream, without memory.
bool filtering_engine::keep_until_sent(stream_handle& stream) noexcept try {
  if (closing_.size() == closing_.capacity()) closing_.reserve(2 * closing_.size() + 8);
  auto made = std::make_unique<filter_port>(*this, nullptr, std::move(stream));
  if (made->start()) {
    stream = made->release();
    return false;
  }
  filter_port& p = *closing_.emplace_back(std::move(made));
  ++open_;
  has_chores_ = true;
  if (!p.begin_closing())
    end_closing(p);
  else
    next_deadline_ = std::min(next_deadline_, p.deadline());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void filtering_engine::end_closing(filter_port& p) noexcept {
  --open_;
  close_now(p.release());
}

// Ends each stream whose time is over and whose peer has taken nothing.
void filtering_engine::end_silent() noexcept {
  const time_point now = clock::system().now();
  if (now < next_deadline_) return;
  next_deadline_ = time_point::max();
  for (const auto& p : closing_) {
    if (p->handle() < 0) continue;
    if (p->deadline() <= now && p->gives_up())
      end_closing(*p);
    else
      next_deadline_ = std::min(next_deadline_, p->deadline());
  }
}

void filtering_engine::flush(flush_extent extent) noexcept {
  if (extent == flush_extent::closing) finish_closing();
  inner().flush(extent);
}

void filtering_engine::finish_closing() noexcept {
  const time_point end = clock::system().now() + closing_stream::at_end;
  for (duration left = closing_stream::at_end; open_ > 0 && left > duration::zero(); left = end - clock::system().now())
    (void)inner().poll(left);
  drop_closing();
}

void filtering_engine::drop_closing() noexcept {
  for (const auto& p : closing_) {
    if (p->handle() < 0) continue;
    sockets().reset_when_closed(p->handle());
    end_closing(*p);
  }
}

}  // namespace quintet
