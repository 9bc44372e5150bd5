// SPDX-License-Identifier: BSL-1.0
// connector: one attempt to connect: looks a name up, tries its addresses (RFC 8305), keeps the first that answers.
#pragma once

#include "../loop/event_loop.hpp"
#include "../names/destination.hpp"
#include "../options/connect_options.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace quintet {

class resolver;

/// On any loop: where the engine cannot wait for a handle to be connected, because it blocks in another, the loop's
/// guest does. The function is called once, on the loop, and never from within start(): with a handle that it then
/// owns, or with the reason why there is none: the system's, of the address that failed last; the resolver's;
/// errc::connect_timeout; or errc::stopped, when the loop stops. It may destroy the connector. An exception of it is
/// counted in `handler_errors`; the handle is its own then, too.
class connector final : private loop_member {
 public:
  using done_function = std::function<void(error_code failed, int handle)>;

  /// [loop]
  connector(event_loop& loop, const connect_options& options, done_function done);
  /// [loop] Gives up, without a call.
  ~connector();
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;

  /// [loop] Once. What fails at once is told to the function as well.
  void start(const destination& to) noexcept;

 private:
  class attempt;
  using callback = callback_timer<std::function<void()>>;

  void found(error_code failed, const std::vector<address>& candidates) noexcept;
  void try_next() noexcept;
  void attempt_ended(attempt& which, error_code failed) noexcept;
  void abort() noexcept override;
  void finish(error_code why, int handle) noexcept;
  void clean_up() noexcept;

  event_loop& loop_;
  const connect_options options_;
  done_function done_;
  bool joined_ = false;
  callback limit_, next_;
  std::unique_ptr<resolver> resolver_;
  std::vector<address> candidates_;
  std::size_t tried_ = 0;
  std::vector<attempt*> under_way_;  // each owns itself, because an event for it may be in the batch at hand
  error_code last_failure_;
};

}  // namespace quintet
