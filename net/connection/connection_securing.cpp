// SPDX-License-Identifier: BSL-1.0
// connection_securing: lends the stream to a handshake, and puts the filter into it.
#include "connection_securing.hpp"

#include "../engine/socket_services.hpp"
#include "../secure/loop_handshakes.hpp"
#include "connection.hpp"
#include "connection_core.hpp"
#include "connection_extras.hpp"
#include "connection_handoff.hpp"

#include <cerrno>
#include <new>
#include <utility>

namespace quintet::detail {

/// The handshake of a connection, which has the engine's channel.
class midstream_handshake final : public securing_stream {
 public:
  midstream_handshake(securing_queue& queue, connection_core& c) noexcept : securing_stream(queue), connection_(c) {}
  using securing_stream::stop;

 private:
  error_code begin_to_read() noexcept override {
    return connection_input::read_for_handshake(connection_, true).code();
  }
  void stop_reading() noexcept override { (void)connection_input::read_for_handshake(connection_, false); }
  std::ptrdiff_t send_some(bytes records) noexcept override {
    const engine::send_result sent = connection_.loop_.io().send(connection_, records);
    return sent.error != 0 ? -sent.error : static_cast<std::ptrdiff_t>(sent.bytes);
  }
  void finished(error_code failed, std::unique_ptr<transport> carried, bytes last_words) noexcept override {
    connection_securing::finish(connection_, failed, std::move(carried), last_words);
  }

  connection_core& connection_;
};

namespace {

bool is_usable(const std::shared_ptr<handshake_source>& source, const handshake_limits& limits) noexcept {
  const bool is_of_client = source && source->examine({}).is_whole;  // it would verify nobody's name
  return source && !is_of_client && limits.timeout > duration::zero() && limits.at_once > 0;
}

// Returns why the connection must end instead.
error_code reason_to_end(const connection_core& c) noexcept {
  if (c.input_.size() > 0) return errc::input_before_tls;
  if (c.loop_flags().input.was_reset || c.loop_flags().output.send_failed) return c.why_not_sent();
  if (c.loop_flags().input.peer_ended) return errc::end_of_stream;
  return c.is_draining() || c.host_.registry.is_draining() ? errc::stopped : error_code();
}

}  // namespace

error_code connection_securing::refusal(const connection_core& c, const std::shared_ptr<handshake_source>& source,
                                        const handshake_limits& limits) {
  if (!is_usable(source, limits)) return system_error_code(EINVAL);
  if (c.tls() || c.baton_flags().input.starts_tls) return system_error_code(EALREADY);
  if (c.baton_flags().output.shutdown_requested || c.baton_flags().core.close_requested)
    return system_error_code(EPIPE);
  if (!c.constants_.can_secure) return system_error_code(EOPNOTSUPP);
  const bool has_filters = c.loop_.options().tuning.filters;
  if (!has_filters || !c.loop_.io().sockets().local_address(c.handle_).is_ip()) return system_error_code(EOPNOTSUPP);
  return {};
}

void connection_securing::note_request(connection_core& c) noexcept {
  connection_input::await_tls(c, true);
  connection_output::refuse_writes(c, false);
  c.note_changes();
}

void connection_securing::take_over_request(connection_core& c) noexcept {
  if (c.baton_flags().input.starts_tls) connection_output::end_message(c);
}

bool connection_securing::is_in_progress(const connection_core& c) noexcept { return c.extras_ && c.extras_->securing; }

void connection_securing::run(connection_core& c) noexcept {
  const std::unique_ptr<tls_request> wanted = std::move(c.baton_extras_->starts_tls);
  error_code refused = reason_to_end(c);
  if (!refused) try {
      if (!c.make_extras()) throw std::bad_alloc();
      securing_queue& queue =
          c.loop_.use<loop_handshakes>().of(wanted->source, wanted->limits, c.host_.model, &c.host_.handshakes);
      c.extras_->securing = new midstream_handshake(queue, c);  // deletes itself
    } catch (const std::bad_alloc&) {
      refused = no_memory();
    }
  if (refused) {
    count_end(c.host_.handshakes, refused);
    return c.fail(refused);
  }
  connection_handoff::begin_handshake(c);
  c.extras_->securing->start(c.handle_);
}

void connection_securing::received(connection_core& c, bytes arrived) noexcept {
  c.extras_->securing->received(arrived);
}
void connection_securing::received_end(connection_core& c, error_code how) noexcept {
  c.extras_->securing->received_end(how);
}
void connection_securing::message_waits(connection_core& c) noexcept {
  if (c.host_.registry.is_draining()) c.drain();
}
void connection_securing::stop(connection_core& c) noexcept { c.extras_->securing->stop(); }

void connection_securing::finish(connection_core& c, error_code failed, std::unique_ptr<transport> carried,
                                 bytes last_words) noexcept {
  c.extras_->securing = nullptr;
  connection_input::await_tls(c, false);
  connection_output::end_message(c);
  c.output_.classify_writes(c);
  if (!failed) failed = use_filter(c, std::move(carried));
  if (!last_words.empty() && !c.has_ended()) (void)c.loop_.io().send(c, last_words);
  c.note_progress(true);
  if (failed) c.fail(failed);
  connection_handoff::run_slow_return(c);
  if (!c.has_ended()) c.secured();
}

// The engine holds no bytes of the stream: it does not read before a step.
error_code connection_securing::use_filter(connection_core& c, std::unique_ptr<transport> carried) noexcept {
  stream_handle stream = c.loop_.io().remove(c);
  stream.set_carried(std::move(carried));
  c.baton_extras_->tls = stream.carried()->tls();
  connection_input::use_engine_that_reads(c);
  const error_code refused = c.loop_.io().add(c, std::move(stream));
  if (refused) c.keep_carried(std::move(stream));  // NOLINT(bugprone-use-after-move): a failure has left it
  return refused;
}

}  // namespace quintet::detail
