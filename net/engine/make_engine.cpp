// SPDX-License-Identifier: BSL-1.0
// make_engine: makes an engine and its decorators; falls back to epoll if the kernel refuses io_uring.
#include "make_engine.hpp"

#include "epoll_engine.hpp"

#include <utility>

namespace quintet {

// asio_engine.cpp. Null in a program that does not link quintet::asio_engine: resolve() refuses it then.
[[gnu::weak]] std::unique_ptr<engine> make_asio_engine();

std::unique_ptr<engine> make_shm_engine(std::unique_ptr<engine> inner);        // shm/shm_engine.cpp
std::unique_ptr<engine> make_filtering_engine(std::unique_ptr<engine> inner);  // filter/filtering_engine.cpp

#ifdef QUINTET_ENGINE_URING
std::unique_ptr<engine> make_uring_engine();  // uring/uring_engine.cpp
namespace uring {
error_code refusal() noexcept;
}
#else
static std::unique_ptr<engine> make_uring_engine() { return nullptr; }
namespace uring {
static error_code refusal() noexcept { return {}; }
}  // namespace uring
#endif

error_code refused_by_kernel(engine_kind kind) {
  return detail::resolve(kind) == engine_kind::uring ? uring::refusal() : error_code();
}

std::unique_ptr<engine> make_engine(engine_kind kind, const log_hook& log) {
  kind = detail::resolve(kind);
  if (const error_code why = refused_by_kernel(kind)) {
    report(log, {severity::warning, "the kernel refuses io_uring; epoll is used instead", why});
    kind = engine_kind::epoll;
  }
  if (kind == engine_kind::asio) return make_asio_engine();
  if (kind == engine_kind::uring) return make_uring_engine();
  return std::make_unique<epoll_engine>();
}

std::unique_ptr<engine> decorate(std::unique_ptr<engine> inner, const loop_tuning& asked) {
  if (asked.shared_memory) inner = make_shm_engine(std::move(inner));
  if (asked.filters) inner = make_filtering_engine(std::move(inner));
  return inner;
}

std::unique_ptr<engine> make_default_engine() { return make_engine(engine_kind::automatic); }

}  // namespace quintet
