// SPDX-License-Identifier: BSL-1.0
// model: names and numbers of the models.
#include "model.hpp"

namespace quintet {

std::string_view to_string(model m) noexcept {
  switch (m) {
    case model::thread_per_connection:
      return "thread_per_connection";
    case model::single_reactor:
      return "single_reactor";
    case model::reactor_pool:
      return "reactor_pool";
    case model::loop_per_thread:
      return "loop_per_thread";
    case model::loop_per_thread_pool:
      return "loop_per_thread_pool";
  }
  return "unknown";
}

std::optional<model> from_string(std::string_view text) noexcept {
  for (const model m : all_models) {
    const char number = static_cast<char>('0' + static_cast<int>(m));
    if (text == to_string(m) || text == std::string_view(&number, 1)) return m;
  }
  return std::nullopt;
}

}  // namespace quintet
