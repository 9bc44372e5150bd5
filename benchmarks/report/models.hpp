// SPDX-License-Identifier: BSL-1.0
// models.hpp: the names of the five threading models, the same on every command line and in every file.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace quintet::bench {

inline constexpr std::array<std::string_view, 5> model_names{"thread_per_connection", "single_reactor", "reactor_pool",
                                                             "loop_per_thread", "loop_per_thread_pool"};

// Finds a model by name, or by number from "1" to "5".
constexpr std::optional<std::string_view> find_model(std::string_view text) {
  if (text.size() == 1 && text[0] >= '1' && text[0] <= '5') return model_names[static_cast<std::size_t>(text[0] - '1')];
  const auto found = std::find(model_names.begin(), model_names.end(), text);
  return found == model_names.end() ? std::nullopt : std::optional(*found);
}

}  // namespace quintet::bench
