// SPDX-License-Identifier: BSL-1.0
// connector: one attempt to connect: looks a name up, tries its addresses (RFC 8305), keeps the first that answers, and
// makes TLS of it.
#pragma once

#include "../loop/event_loop.hpp"
#include "../names/destination.hpp"
#include "../options/connect_options.hpp"

#include <boost/intrusive/list.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quintet {

class resolver;

/// With connect_options::upgrade, asks each Unix address for shared memory first. The loop must serve it. While the
/// engine cannot watch handles, that is not possible.
///
/// With connect_options::tls, the handshake is part of the attempt. No other address is tried if it fails. The loop's
/// engine must be able to watch handles.
///
/// Connects on any loop. If the engine cannot watch handles, because it blocks in another call, the loop's guest does.
///
/// The done function is called once, on the loop, never within start(). It gets a stream, which it then owns, or an
/// error. The errors are the system's for the last failed address, the resolver's, those of a TLS handshake,
/// errc::connect_timeout, and errc::stopped when the loop stops. The function may destroy the connector. If it throws,
/// `handler_errors` counts that, and the stream stays its own.
class connector final : private loop_member {
 public:
  /// Gets the result of the attempt.
  using done_function = std::function<void(error_code failed, stream_handle stream)>;

  /// [loop] `done` must not be empty. Throws config_error if the options ask for an upgrade or for TLS that the loop
  /// cannot serve.
  connector(event_loop& loop, const connect_options& options, done_function done);
  /// [loop] Cancels the attempt without calling the done function.
  ~connector();
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;

  /// [loop] Starts connecting. Call it once. All errors go to the done function.
  void start(const destination& to) noexcept;

 private:
  class attempt;
  class secured;
  struct attempt_entry : boost::intrusive::list_base_hook<> {};
  using callback = callback_timer<std::function<void()>>;

  struct candidate {
    address at;
    std::optional<address> plain;  // `at` offers shared memory, for this address
  };
  std::vector<candidate> to_try(const std::vector<address>& all) const;
  void found(error_code failed, const std::vector<address>& candidates) noexcept;
  [[nodiscard]] int open(const candidate& to) noexcept;
  void try_next() noexcept;
  void attempt_ended(attempt& which, error_code failed) noexcept;
  void connected(stream_handle stream, const address& at) noexcept;
  void end_attempts() noexcept;
  void abort() noexcept override;
  void finish(error_code why, stream_handle stream = {}) noexcept;
  void clean_up() noexcept;

  event_loop& loop_;
  const connect_options options_;
  done_function done_;
  bool joined_ = false;
  callback limit_, next_;
  std::unique_ptr<resolver> resolver_;
  std::string host_;  // for TLS; empty: addresses were given
  std::vector<candidate> candidates_;
  std::size_t tried_ = 0;
  // Each owns itself: an event for it may be in the current batch.
  boost::intrusive::list<attempt_entry> pending_attempts_;
  secured* secured_ = nullptr;  // owns itself: the handshake in progress
  error_code last_failure_;
};

}  // namespace quintet
