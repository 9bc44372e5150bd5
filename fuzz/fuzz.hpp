// SPDX-License-Identifier: BSL-1.0
// fuzz: the code shared by all targets: decisions from an input, cuts of a stream, and an abort at a broken promise.
#pragma once

#include <quintet/base/bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

/// Each target is one source that defines this function. libFuzzer calls it with generated inputs; replay.cpp calls it
/// with the files of the target's corpus.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace quintet::fuzz {

/// Aborts if a promise is broken, so that libFuzzer keeps the input.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// Takes decisions from the front of an input. An empty input gives zeros.
class input {
 public:
  explicit input(bytes all) noexcept : rest_(all) {}
  input(const std::uint8_t* data, std::size_t size) noexcept : rest_(reinterpret_cast<const char*>(data), size) {}

  std::uint8_t byte() noexcept {
    if (rest_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  /// Removes and returns at most `size` bytes.
  bytes take(std::size_t size) noexcept {
    const bytes taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] bytes rest() const noexcept { return rest_; }
  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

 private:
  bytes rest_;
};

/// Splits a stream into pieces. A plan always gives the same pieces; every thirty-second plan gives single bytes.
inline std::vector<bytes> cut(bytes stream, std::uint8_t plan) {
  std::minstd_rand random(plan + 1U);
  std::vector<bytes> pieces;
  while (!stream.empty()) {
    const std::size_t size = std::min<std::size_t>(stream.size(), 1 + random() % (1U + plan % 32U));
    pieces.push_back(stream.substr(0, size));
    stream.remove_prefix(size);
  }
  return pieces;
}

/// Calls f(pieces) for the pieces of `plan`, and for a short stream also for each cut into two.
template <class F>
void for_each_cut(bytes stream, std::uint8_t plan, F f) {
  constexpr std::size_t short_stream = 24;
  f(cut(stream, plan));
  if (stream.size() > short_stream) return;  // for longer streams libFuzzer finds the relevant plan
  for (std::size_t at = 1; at < stream.size(); ++at) f(std::vector<bytes>{stream.substr(0, at), stream.substr(at)});
}

}  // namespace quintet::fuzz
