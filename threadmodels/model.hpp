// SPDX-License-Identifier: BSL-1.0
// model: the five threading models by name.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace quintet {

enum class model {
  thread_per_connection = 1,  ///< a thread for each connection, which blocks in recv and send
  single_reactor,             ///< one thread does everything
  reactor_pool,               ///< one reactor does all I/O, a pool runs the handlers
  loop_per_thread,            ///< a main reactor accepts, N sub-reactors do the I/O and run the handlers
  loop_per_thread_pool,       ///< the same, with the handlers on an elastic pool
};

inline constexpr std::array all_models{model::thread_per_connection, model::single_reactor, model::reactor_pool,
                                       model::loop_per_thread, model::loop_per_thread_pool};

/// The enumerator's name, as on every command line, in JSON and in reports.
[[nodiscard]] std::string_view to_string(model m) noexcept;
/// From a name, or its number "1" to "5"; nothing for any other text.
[[nodiscard]] std::optional<model> from_string(std::string_view text) noexcept;

}  // namespace quintet
