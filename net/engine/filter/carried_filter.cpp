// SPDX-License-Identifier: BSL-1.0
// carried_filter: keeps what the filter, its reader or the peer cannot take yet.
#include "carried_filter.hpp"

#include <algorithm>
#include <new>

namespace quintet {

void carried_filter::keep(bytes records) noexcept try {
  received_ += records.size();
  if (end_) return;
  records_.append(records);
  is_exhausted_ = false;
} catch (const std::bad_alloc&) {
  end(system_error_code(ENOMEM));
}

bytes carried_filter::decrypt(bytes fresh, std::span<char> place) noexcept try {
  if (!plain_.empty()) {
    keep(fresh);
    const std::size_t count = plain_.copy(place.data(), place.size());
    plain_.erase(0, count);
    return {place.data(), count};
  }
  received_ += fresh.size();
  if (end_) return {};
  const bool appends = !records_.empty();
  if (appends) records_.append(fresh);
  const bytes in = appends ? bytes(records_) : fresh;
  const filter::result done = filter_->decrypt(in, place);
  if (appends)
    records_.erase(0, done.consumed);
  else
    records_.assign(in.substr(done.consumed));
  is_exhausted_ = done.produced < place.size();
  if (done.failed || done.ended) end(done.failed);
  return {place.data(), done.produced};
} catch (const std::bad_alloc&) {
  end(system_error_code(ENOMEM));
  return {};
}

bool carried_filter::has_plain(std::size_t limit) noexcept try {
  if (!plain_.empty() || is_exhausted_) return !plain_.empty();
  std::string ahead(limit, '\0');
  ahead.resize(decrypt({}, ahead).size());
  plain_ = std::move(ahead);
  return !plain_.empty();
} catch (const std::bad_alloc&) {
  return true;  // decrypt() reports it
}

void carried_filter::end(error_code reason) noexcept {
  if (!end_) end_ = reason;
  records_.clear();
  is_exhausted_ = true;
}

void carried_filter::note_sent(std::size_t count) noexcept {
  sent_ += count;
  if (sent_ < waiting_.size()) return;
  waiting_ = {};  // also its memory
  sent_ = 0;
}

bool carried_filter::wait(bytes records) noexcept try {
  waiting_.append(records);
  return true;
} catch (const std::bad_alloc&) {
  break_sending();
  return false;
}

bool carried_filter::finish() noexcept {
  if (is_broken_ || std::exchange(is_finished_, true)) return !is_broken_;
  std::array<char, last_record> place;
  const filter::result done = filter_->finish(place);
  return !done.failed && wait({place.data(), done.produced});
}

void carried_filter::break_sending() noexcept {
  is_broken_ = true;
  waiting_.clear();
  sent_ = 0;
}

}  // namespace quintet
