// SPDX-License-Identifier: BSL-1.0
// ledger: writes messages, and checks those that arrive.
#include "ledger.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace quintet::test::soak {
namespace {

/// In front of each payload.
struct letter_head {
  std::uint32_t stream, number, size;
};

// The bytes behind a head: a window into this text.
constexpr std::size_t period = 4093;
bytes filling(std::uint32_t number, std::size_t size) {
  static const std::string text = [] {
    std::string all(period + 64 * 1024, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 31 + i / 256 * 7);
    return all;
  }();
  return bytes(text).substr(number % period, size);
}

}  // namespace

void letter_stream::write(std::uint32_t number, std::uint32_t size, std::string& payload) const {
  const letter_head head{id_, number, size};
  payload.assign(sizeof head, '\0');
  std::memcpy(payload.data(), &head, sizeof head);
  payload += filling(number, size);
}

void letter_stream::complete(std::uint32_t number, error_code why) {
  letter& l = letters_[number];
  if (l.told.exchange(why ? fate::failed : fate::arrived) != fate::unknown) wrong_ = "a completion was called twice";
  // A message that was never taken by a link may fail before earlier ones arrive.
  if (!why && is_direct && by != letter_sender::several_threads && next_completed_.exchange(number + 1) > number)
    wrong_ = "completions are out of order";
}

std::string letter_stream::deliver(std::uint32_t number, unsigned life, bool may_repeat) {
  if (number >= most) return "a message has a number that nobody gave";
  if (delivers_to_.exchange(life) != life) next_delivered_ = 0;
  const bool is_late = next_delivered_ > number;
  next_delivered_ = number + 1;
  const unsigned before = letters_[number].delivered_to.exchange(life);
  if (may_repeat) return {};
  if (before == life) return "a message was delivered twice";
  if (is_late && by != letter_sender::several_threads) return "messages are out of order";
  return {};
}

bool letter_stream::is_settled() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(letters_.begin(), letters_.begin() + taken_,
                     [](const letter& l) { return !l.asks || l.told != fate::unknown; });
}

std::string letter_stream::judge(std::uint64_t& missing) const {
  const std::lock_guard lock(mutex_);
  if (const char* const what = wrong_) return what;
  for (std::uint32_t i = 0; i < taken_; ++i) {
    const letter& l = letters_[i];
    if (l.asks && l.told == fate::unknown) return "a completion was not called";
    if (!l.asks && l.told != fate::unknown) return "a completion was called that nobody gave";
    if (l.delivered_to != 0 || l.told == fate::failed) continue;
    if (l.told == fate::arrived) return "a completion says that a message has arrived, and it has not";
    ++missing;
  }
  return {};
}

// ---- All streams ----------------------------------------------------------------------------------------------------

letter_stream& ledger::add(unsigned from, unsigned to, letter_sender by, bool is_direct) {
  const std::lock_guard lock(mutex_);
  const auto id = static_cast<std::uint32_t>(streams_.size());
  return *streams_.emplace_back(std::make_unique<letter_stream>(id, from, to, by, is_direct));
}

void ledger::note_end(unsigned node) {
  const std::lock_guard lock(mutex_);
  if (node == 0) hub_has_ended_ = true;
  for (const auto& s : streams_)
    if (s->from == node || (!s->is_direct && (node == 0 || s->to == node))) s->has_ended = true;
}

void ledger::deliver(unsigned to, unsigned life, bytes payload) {
  ++delivered_;
  letter_head head{};
  letter_stream* stream = nullptr;
  std::string wrong;
  if (payload.size() >= sizeof head) std::memcpy(&head, payload.data(), sizeof head);
  const std::lock_guard lock(mutex_);
  if (head.stream < streams_.size()) stream = streams_[head.stream].get();
  if (!stream || payload.size() != sizeof head + head.size ||
      payload.substr(sizeof head) != filling(head.number, head.size))
    wrong = "a message is damaged";
  else if (stream->to != to)
    wrong = "a message came to the wrong node";
  else
    wrong = stream->deliver(head.number, life, repeats_ && !stream->is_direct && hub_has_ended_);
  if (wrong_.empty() && !wrong.empty()) wrong_ = wrong;
}

bool ledger::is_settled() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(streams_, [](const auto& s) { return s->is_settled(); });
}

std::string ledger::judge(std::uint64_t counted) const {
  const std::lock_guard lock(mutex_);
  if (!wrong_.empty()) return wrong_;
  std::uint64_t missing = 0;
  for (const auto& s : streams_) {
    std::uint64_t missing_here = 0;
    std::string wrong = s->judge(missing_here);
    if (!wrong.empty()) return wrong;
    if (!s->has_ended) missing += missing_here;
  }
  if (missing > counted)
    return std::to_string(missing) + " messages are missing, and the nodes have counted " + std::to_string(counted);
  return {};
}

}  // namespace quintet::test::soak
