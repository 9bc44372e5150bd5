// SPDX-License-Identifier: BSL-1.0
// combination: a threading model and a handler flavour. Each behaviour is tested in all combinations.
#pragma once

#include <quintet/threadmodels/model.hpp>

#include <array>
#include <ostream>
#include <string>

namespace quintet {

/// For the names of test cases and messages.
inline std::ostream& operator<<(std::ostream& out, model m) { return out << to_string(m); }

}  // namespace quintet

namespace quintet::test {

/// Returns whether batches (callbacks) or offloaded work (coroutines) run on a pool.
[[nodiscard]] constexpr bool is_pooled(model kind) {
  return kind == model::reactor_pool || kind == model::loop_per_thread_pool;
}

inline constexpr std::array pooled_models{model::reactor_pool, model::loop_per_thread_pool};

enum class flavour { callback, coroutine, asio };

struct combination {
  model kind;
  flavour style;

  /// Quintet's or Asio's: it does not learn why its connection has ended.
  [[nodiscard]] bool is_coroutine() const { return style != flavour::callback; }
  [[nodiscard]] bool is_pooled() const { return test::is_pooled(kind); }
};

inline std::string to_string(flavour f) {
  return f == flavour::callback ? "callback" : f == flavour::coroutine ? "coroutine" : "asio";
}
inline std::ostream& operator<<(std::ostream& out, combination c) { return out << c.kind << '/' << to_string(c.style); }

/// Ten, without handlers of Asio's streams; the flavours of a model are next to each other.
inline constexpr std::array<combination, 2 * all_models.size()> all_combinations = [] {
  std::array<combination, 2 * all_models.size()> all{};
  std::size_t n = 0;
  for (const model m : all_models)
    for (const flavour f : {flavour::callback, flavour::coroutine}) all[n++] = {m, f};
  return all;
}();

}  // namespace quintet::test
