// SPDX-License-Identifier: BSL-1.0
// progress.cpp: a bar on a terminal, a line for each run elsewhere. It uses standard error, because the table uses
// standard output.
#include "compare/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace quintet::bench {

namespace {
constexpr auto* clear_line = "\r\x1b[K";
}

progress::progress(std::size_t runs, double expected_seconds)
    : runs_(runs), expected_(expected_seconds), terminal_(::isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
  if (terminal_) fmt::print(stderr, "{}", clear_line);
}

std::string progress::bar(std::size_t done, std::size_t all, double seconds_left) {
  constexpr std::size_t width = 24;
  const auto filled = all == 0 ? width : done * width / all;
  const auto left =
      seconds_left < 90 ? fmt::format("{:.0f} s", seconds_left) : fmt::format("{:.0f} min", seconds_left / 60);
  return fmt::format("[{}{}] {:>3} of {}, about {} left", std::string(filled, '#'), std::string(width - filled, '.'),
                     done, all, left);
}

double progress::seconds_left() const {
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  // The measured pace replaces the planned one after a few runs.
  const double pace = done_ >= 3 && expected_done_ > 0 ? passed / expected_done_ : 1;
  return std::max(0.0, (expected_ - expected_done_) * pace);
}

void progress::draw(const std::string& label) const {
  const auto text = fmt::format("{}  {}", bar(done_, runs_, seconds_left()), label);
  fmt::print(stderr, "{}{}", clear_line, text.substr(0, 118));
}

void progress::begins(const std::string& label) {
  if (terminal_) draw(label);
}

void progress::done(const std::string& label, const std::string& outcome, double expected) {
  ++done_;
  expected_done_ += expected;
  if (!terminal_) fmt::print(stderr, "{:>3} of {}  {}: {}\n", done_, runs_, label, outcome);
}

}  // namespace quintet::bench
