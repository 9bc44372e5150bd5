// SPDX-License-Identifier: BSL-1.0
// connection: the functions that handlers call, where they are longer than a line.
#include "connection.hpp"

#include "../engine/socket_services.hpp"
#include "../loop/executor.hpp"
#include "connection_extras.hpp"
#include "connection_migration.hpp"
#include "connection_securing.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <utility>

namespace quintet {

using write_verdict = detail::connection_output::write_verdict;

// ---- Output ---------------------------------------------------------------------------------------------------------

bool connection::write_more(bytes data) { return write(std::span(&data, 1)); }

bool connection::write(std::span<const bytes> pieces) {
  check_held();
  std::size_t sum = 0;
  for (const bytes& piece : pieces) sum += piece.size();
  if (const write_verdict verdict = output_.check_write(*this, sum); verdict != write_verdict::accepted)
    return verdict == write_verdict::dropped;
  output_.append(*this, pieces);
  fail_if(output_.send_quantum(*this));
  return true;
}

bool connection::write(shared_bytes data) {
  check_held();
  const bytes all = data ? bytes(*data) : bytes();
  if (all.size() < applied_limits().merge_threshold || !output_.may_keep_reference()) return write_more(all);
  if (const write_verdict verdict = output_.check_write(*this, all.size()); verdict != write_verdict::accepted)
    return verdict == write_verdict::dropped;
  output_.append(*this, std::move(data));
  fail_if(output_.send_quantum(*this));
  return true;
}

error_code connection::write_error() const noexcept {
  const detail::output_baton_flags& flags = held().output;
  if (flags.shutdown_requested) return system_error_code(EPIPE);
  if (baton_flags().input.starts_tls) return system_error_code(EINPROGRESS);
  return flags.overflowed ? errc::output_overflow : errc::output_full;
}

void connection::flush() {
  check_held();
  detail::end_reason failed;
  if (!output_.send_early(*this, loop_.counters().sends_flushed, failed)) return;
  output_.end_message(*this);
  fail_if(failed);
  loop_.io().flush(engine::flush_extent::output);
}

cork_guard connection::cork() {
  check_held();
  output_.cork(*this);
  return cork_guard(*this);
}

void connection::uncork(bool sends) {
  if (output_.uncork(*this) && sends) flush();
}

// Its default reason tells that there was no memory for a reason.
void connection::close(error_code why) noexcept {
  close();
  own_flags().has_reason = true;
  if (make_baton_extras()) baton_extras_->close_reason = why;
}

// ---- Input and settings ---------------------------------------------------------------------------------------------

void connection::count_kept_input(std::size_t size) noexcept {
  check_held();
  if (!input_.count_kept(*this, size)) close(detail::no_memory());
}

void connection::count_checksum_error() noexcept {
  check_held();
  if (!make_baton_extras()) return;  // no memory to count it
  ++baton_extras_->counts.checksum_errors;
  note_changes();
}

cancel_token connection::look_for_end() noexcept {
  check_held();
  if (is_on_loop() && !has_ended()) {
    using enum socket_services::peer_state;
    const auto peer = loop_.io().sockets().state_of_peer(handle_);
    const bool was_reset = peer == gone || (peer == closed && !loop_flags().output.send_shut);
    if (peer != connected) heard_.tell(was_reset ? cancel_reason::peer_reset : cancel_reason::peer_finished);
  }
  return cancelled();
}

cancel_key connection::make_cancel_key() {
  check_held();
  cancel_key& made = extras_of_baton().key;
  if (made == cancel_key()) made = registry().make_key(id_);
  return made;
}

detail::connection_settings& connection::changed_settings() {
  std::unique_ptr<detail::connection_settings>& changed = extras_of_baton().changed;
  if (!changed)
    changed = own_ ? std::make_unique<detail::connection_settings>(*own_)
                   : std::make_unique<detail::connection_settings>(host_.limits);
  note_changes();
  return *changed;
}

void connection::set_limits(const connection_limits& limits) {
  check_held();
  validate(limits);
  changed_settings().limits = limits;
}

void connection::throttle_source(connection_id source) {
  check_held();
  changed_settings().source = source;
}

// ---- Identity and migration -----------------------------------------------------------------------------------------

loop_executor connection::get_executor() const { return loop_.get_executor(); }

std::string connection::peer_address() const {
  check_held();
  return peer();
}

bool connection::move_to_priority_loop() {
  check_held();
  return host_.priority_loop && detail::connection_migration::request(*this, *host_.priority_loop);
}

bool connection::move_to(event_loop& to) {
  check_held();
  const auto is_ordinary = [this](event_loop& loop) { return std::ranges::count(host_.loops, &loop) > 0; };
  return is_ordinary(to) && is_ordinary(loop_) && detail::connection_migration::request(*this, to);
}

error_code connection::start_tls(std::shared_ptr<handshake_source> context, bytes answer,
                                 const handshake_limits& limits) {
  check_held();
  if (const error_code refused = detail::connection_securing::refusal(*this, context, limits)) return refused;
  auto wanted = std::make_unique<detail::tls_request>(std::move(context), limits);
  detail::connection_baton_extras& extras = extras_of_baton();
  if (!write(answer)) return write_error();
  extras.starts_tls = std::move(wanted);
  detail::connection_securing::note_request(*this);
  return {};
}

// An exception leaves the end of the batch to decide.
cork_guard::cork_guard(connection& of) noexcept : connection_(&of), exceptions_(std::uncaught_exceptions()) {}
void cork_guard::end() const noexcept { connection_->uncork(std::uncaught_exceptions() == exceptions_); }

}  // namespace quintet
