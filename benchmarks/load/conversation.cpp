// SPDX-License-Identifier: BSL-1.0
// conversation.cpp: checking and counting replies.
#include "load/conversation.hpp"

#include <cmath>

namespace quintet::bench {

std::uint64_t conversation::due_before(std::uint64_t time) const {
  const auto start = control_->schedule_start_ns.load(std::memory_order_relaxed);
  if (time < start) return 0;
  // Rounded down, then corrected by at most one: due_ns() is the one definition of the schedule.
  const double periods = (static_cast<double>(time - start) / control_->interval_ns - index_) / count_;
  auto due = periods < 0 ? 0 : static_cast<std::uint64_t>(periods);
  while (due_ns(due) <= time) ++due;
  return due;
}

void conversation::count_reply(std::uint64_t message, std::uint64_t now, tally& found) const {
  const workload& work = control_->settings.work;
  const bool is_cheap = work.kind == work_kind::mixed && !is_expensive(work, stream_.sequence(message));
  found.succeed(*control_, begun_at(message), now, is_cheap);
}

bool conversation::note_received(std::string_view in, std::uint64_t now, tally& found) {
  if (received_ + in.size() > sent_) {
    found.fail(outstanding() + 1, "the server sent more than it was asked for");
    return false;
  }
  if (spoiled_ || shed_ || !matches(received_, in)) {
    note_spoiled(in, now, found);
    return true;
  }
  auto message = messages_answered();
  received_ += in.size();
  for (const auto end = messages_answered(); message != end; ++message) count_reply(message, now, found);
  return true;
}

// Checks the beginning of a reply.
bool conversation::begins_as_shed(std::string_view part) const {
  const char first = static_cast<char>(static_cast<unsigned char>(part.front()) ^ shed_mark);
  return matches(received_, {&first, 1}) && matches(received_ + 1, part.substr(1));
}

/// The slow path: checks message by message, so that only those with a wrong byte count as failed.
void conversation::note_spoiled(std::string_view in, std::uint64_t now, tally& found) {
  while (!in.empty()) {
    const auto message = messages_answered();
    const std::size_t rest = stream_.message_bytes() - received_ % stream_.message_bytes();
    const auto part = in.substr(0, rest);
    if (rest == stream_.message_bytes() && begins_as_shed(part))
      shed_ = true;
    else
      spoiled_ = spoiled_ || !matches(received_, part);
    received_ += part.size();
    in.remove_prefix(part.size());
    if (part.size() < rest) return;
    if (spoiled_) {
      found.fail(1, "wrong bytes in a reply");
    } else if (shed_) {
      found.note_shed(*control_, begun_at(message), now);
    } else {
      count_reply(message, now, found);
    }
    spoiled_ = shed_ = false;
  }
}

}  // namespace quintet::bench
