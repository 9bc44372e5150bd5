// SPDX-License-Identifier: BSL-1.0
// model: the five threading models by name.
#pragma once

#include "../base/enum_names.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace quintet {

/// The five threading models, which have these numbers.
enum class model {
  thread_per_connection = 1,  ///< a thread for each connection, which blocks in recv and send
  single_reactor,             ///< one thread does everything
  reactor_pool,               ///< one reactor does all I/O, a pool runs the handlers
  loop_per_thread,            ///< a main reactor accepts, N sub-reactors do the I/O and run the handlers
  loop_per_thread_pool,       ///< the same, with the handlers on an elastic pool
};

template <>
inline constexpr auto enum_names<model> =
    std::to_array<enum_name<model>>({{model::thread_per_connection, "thread_per_connection"},
                                     {model::single_reactor, "single_reactor"},
                                     {model::reactor_pool, "reactor_pool"},
                                     {model::loop_per_thread, "loop_per_thread"},
                                     {model::loop_per_thread_pool, "loop_per_thread_pool"}});

/// All models, in this order.
inline constexpr auto& all_models = enumerators<model>;

/// Parses a name, or a number "1" to "5". Returns nothing for any other text.
template <>
[[nodiscard]] constexpr std::optional<model> from_string<model>(std::string_view text) noexcept {
  if (text.size() == 1 && text[0] >= '1' && text[0] <= '5') return static_cast<model>(text[0] - '0');
  for (const auto& row : enum_names<model>)
    if (row.name == text) return row.value;
  return std::nullopt;
}
/// The same without the type: `from_string("reactor_pool")`.
[[nodiscard]] constexpr std::optional<model> from_string(std::string_view text) noexcept {
  return from_string<model>(text);
}

/// [any thread] Returns the model that the environment variable QUINTET_MODEL names, or loop_per_thread without it. It
/// is the default of config::model, so that a program tries another model without being built again. Throws
/// config_error for another text. Ignored in a set-user-ID program.
[[nodiscard]] model default_model();

}  // namespace quintet
