// SPDX-License-Identifier: BSL-1.0
// accept_strategy: names.
#include "accept_strategy.hpp"

namespace quintet {

std::string_view to_string(accept_strategy strategy) noexcept {
  switch (strategy) {
    case accept_strategy::main_reactor:
      return "main_reactor";
    case accept_strategy::reuse_port:
      return "reuse_port";
    case accept_strategy::reuse_port_cpu:
      return "reuse_port_cpu";
    case accept_strategy::exclusive:
      return "exclusive";
  }
  return "unknown";
}

std::optional<accept_strategy> accept_strategy_from_string(std::string_view text) noexcept {
  for (const accept_strategy strategy : all_accept_strategies)
    if (text == to_string(strategy)) return strategy;
  return std::nullopt;
}

}  // namespace quintet
