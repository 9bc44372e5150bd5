// SPDX-License-Identifier: BSL-1.0
// engine_kind: names, and what is built in.
#include "engine_kind.hpp"

#include "../../base/error.hpp"

#include <algorithm>
#include <cstdlib>

namespace quintet {
namespace {

#ifdef QUINTET_ENGINE_URING
constexpr bool has_uring = true;
#else
constexpr bool has_uring = false;
#endif

std::string names(const auto& kinds) {
  std::string list;
  for (const engine_kind kind : kinds) list.append(list.empty() ? "" : ", ").append(to_string(kind));
  return list;
}

}  // namespace

std::string_view to_string(engine_kind kind) noexcept {
  switch (kind) {
    case engine_kind::automatic:
      return "automatic";
    case engine_kind::epoll:
      return "epoll";
    case engine_kind::asio:
      return "asio";
    case engine_kind::uring:
      return "uring";
  }
  return "unknown";
}

std::optional<engine_kind> engine_from_string(std::string_view text) noexcept {
  for (const engine_kind kind : all_engine_kinds)
    if (text == to_string(kind)) return kind;
  return std::nullopt;
}

std::vector<engine_kind> built_engines() {
  std::vector<engine_kind> all{engine_kind::automatic, engine_kind::epoll, engine_kind::asio};
  if (has_uring) all.push_back(engine_kind::uring);
  return all;
}

engine_kind detail::resolve(engine_kind kind) {
  const char* const wanted = kind == engine_kind::automatic ? ::secure_getenv("QUINTET_ENGINE") : nullptr;
  if (wanted && *wanted) {
    const auto named = engine_from_string(wanted);
    if (!named)
      throw config_error("QUINTET_ENGINE=" + std::string(wanted) +
                         " is no engine; there are: " + names(all_engine_kinds));
    kind = *named;
  }
  if (kind == engine_kind::automatic) return engine_kind::epoll;
  const auto built = built_engines();
  if (std::ranges::find(built, kind) == built.end())
    throw config_error("engine: " + std::string(to_string(kind)) +
                       " is not built in, which needs -DQUINTET_ENGINE_URING=ON; there are: " + names(built));
  return kind;
}

void validate(engine_kind kind) { (void)detail::resolve(kind); }

}  // namespace quintet
