// SPDX-License-Identifier: BSL-1.0
// query: parses queries; sleeps, spins and answers.
#include "query.hpp"

#include <charconv>
#include <ctime>
#include <optional>
#include <thread>

namespace slow_query {
namespace {

using quintet::bytes;
using milliseconds = std::chrono::milliseconds;

constexpr long longest = 10'000;

std::optional<milliseconds> to_duration(bytes text) noexcept {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > longest) return std::nullopt;
  return milliseconds(value);
}

// Returns this thread's CPU time, which a computation needs regardless of competing threads.
std::chrono::nanoseconds computed() noexcept {
  timespec t{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

void spin(milliseconds time) {
  const auto end = computed() + time;
  while (computed() < end) {
  }
}

}  // namespace

std::string answer(bytes query) {
  if (query.ends_with('\r')) query.remove_suffix(1);
  if (query == "ping") return "pong\n";
  const std::size_t space = query.find(' ');
  const bytes verb = query.substr(0, space);
  const auto time = space == query.npos ? std::nullopt : to_duration(query.substr(space + 1));
  if (!time || (verb != "sleep" && verb != "spin"))
    return "error: a query is 'ping', 'sleep MS' or 'spin MS', MS from 0 to " + std::to_string(longest) + "\n";
  if (verb == "sleep")
    std::this_thread::sleep_for(*time);
  else
    spin(*time);
  return "done " + std::string(query) + "\n";
}

std::size_t session::operator()(quintet::connection& c, bytes in) const {
  std::size_t used = 0;
  for (std::size_t end; (end = in.find('\n', used)) != in.npos; used = end + 1)
    c.write(answer(in.substr(used, end - used)));
  return used;  // an incomplete line is offered again, followed by more
}

}  // namespace slow_query
