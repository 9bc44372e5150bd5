// SPDX-License-Identifier: BSL-1.0
// loop_options: validation, and the engines that are built in.
#include "loop_options.hpp"

#include "../../base/error.hpp"
#include "../../base/work/spin_budget.hpp"
#include "require.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace quintet {

class engine;
[[gnu::weak]] std::unique_ptr<engine> make_asio_engine();  // null unless the program links quintet::asio_engine

namespace {

#ifdef QUINTET_ENGINE_URING
constexpr bool has_uring = true;
#else
constexpr bool has_uring = false;
#endif

}  // namespace

void validate(const loop_tuning& tuning, std::size_t max_output_total) {
  spin_budget::validate(tuning.spin);
  detail::require_value(tuning.static_output <= max_output_total, "static_output", tuning.static_output,
                        "at most max_output_total, " + std::to_string(max_output_total));
  constexpr std::size_t most = 64 * 1024;
  detail::require_value(tuning.receive_size >= 1 && tuning.receive_size <= most, "receive_size", tuning.receive_size,
                        "from 1 to " + std::to_string(most));
  constexpr std::size_t most_lookups = 1024;
  detail::require_value(tuning.max_lookups >= 1 && tuning.max_lookups <= most_lookups, "max_lookups",
                        tuning.max_lookups, "from 1 to " + std::to_string(most_lookups));
}

std::vector<engine_kind> built_engines() {
  std::vector<engine_kind> all{engine_kind::automatic, engine_kind::epoll};
  if (make_asio_engine) all.push_back(engine_kind::asio);
  if (has_uring) all.push_back(engine_kind::uring);
  return all;
}

engine_kind detail::resolve(engine_kind kind) {
  const char* const wanted = kind == engine_kind::automatic ? ::secure_getenv("QUINTET_ENGINE") : nullptr;
  if (wanted && *wanted) {
    const auto named = from_string<engine_kind>(wanted);
    if (!named)
      throw config_error("QUINTET_ENGINE=" + std::string(wanted) +
                         " is not an engine; it must be one of: " + names_of<engine_kind>());
    kind = *named;
  }
  if (kind == engine_kind::automatic) return engine_kind::epoll;
  const auto built = built_engines();
  if (std::ranges::find(built, kind) == built.end())
    throw config_error("engine is " + std::string(to_string(kind)) +
                       (kind == engine_kind::asio ? ", which the program does not link (quintet::asio_engine)"
                                                  : ", which is not built in (-DQUINTET_ENGINE_URING=ON builds it)") +
                       "; it must be one of: " + names_of(built));
  return kind;
}

void validate(engine_kind kind) { (void)detail::resolve(kind); }

}  // namespace quintet
