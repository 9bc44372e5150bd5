// SPDX-License-Identifier: BSL-1.0
// engine_kind: names, what is built in, and what takes the place of an engine that the kernel refuses.
#include <quintet/net/engine_kind.hpp>

#include <quintet/net/epoll_engine.hpp>

#include <algorithm>
#include <cstdlib>

namespace quintet {

std::unique_ptr<engine> make_asio_engine();  // asio_engine.cpp

#ifdef QUINTET_ENGINE_URING
constexpr bool has_uring = true;
std::unique_ptr<engine> make_uring_engine();  // uring/engine.cpp
namespace uring {
error_code refusal() noexcept;
}
#else
constexpr bool has_uring = false;
static std::unique_ptr<engine> make_uring_engine() { return nullptr; }
namespace uring {
static error_code refusal() noexcept { return {}; }
}  // namespace uring
#endif

namespace {

std::string names(const auto& kinds) {
  std::string list;
  for (const engine_kind kind : kinds) list.append(list.empty() ? "" : ", ").append(to_string(kind));
  return list;
}

/// One that is built in, and not `automatic`.
engine_kind settled(engine_kind kind) {
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

error_code refused_by_kernel(engine_kind kind) {
  return settled(kind) == engine_kind::uring ? uring::refusal() : error_code();
}

void validate(engine_kind kind) { (void)settled(kind); }

std::unique_ptr<engine> make_engine(engine_kind kind, const log_hook& log) {
  kind = settled(kind);
  if (const error_code why = refused_by_kernel(kind)) {
    report(log, {severity::warning, "this kernel refuses io_uring: epoll takes its place", why});
    kind = engine_kind::epoll;
  }
  if (kind == engine_kind::asio) return make_asio_engine();
  if (kind == engine_kind::uring) return make_uring_engine();
  return std::make_unique<epoll_engine>();
}

std::unique_ptr<engine> make_default_engine() { return make_engine(engine_kind::automatic); }

}  // namespace quintet
