// SPDX-License-Identifier: BSL-1.0
// securing_stream: receives, takes steps, sends; in the end hands the stream over with its filter.
#include "securing_stream.hpp"

#include "../engine/socket_services.hpp"
#include "../engine/system_call.hpp"
#include "securing_queue.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <utility>

#include <sys/socket.h>

namespace quintet {
namespace {

// What waits for a step. The kernel keeps the rest: the peer may send much behind its last record of the handshake.
constexpr std::size_t most_incoming = 64 * 1024;
// A longer first record is none. Many streams may wait for their first step.
constexpr std::size_t most_of_first = 5 + 16 * 1024;
// A new socket takes a flight of the handshake at once, unless its buffers are small.
constexpr duration between_sends = std::chrono::milliseconds(5);

// The first bytes that tell a ClientHello from plain text: a record's header, and the kind of its message.
constexpr std::size_t to_detect = 6;

}  // namespace

securing_stream::securing_stream(securing_queue& queue) noexcept
    : work_item([](work_item& self) noexcept { delete &static_cast<securing_stream&>(self); }), queue_(queue) {}

void securing_stream::start(int socket, bool may_be_plain) noexcept {
  socket_ = socket;
  is_undecided_ = may_be_plain;
  queue_.all_.push_back(*this);
  deadline_ = later(queue_.loop_.now(), queue_.limits_.timeout);
  if (const error_code refused = set_reading(true)) return finish(refused);
  start_timer();
  if (queue_.source_->examine({}).is_whole) await_turn();
}

void securing_stream::stop() noexcept { finish(errc::stopped); }

void securing_stream::start_timer() noexcept {
  const duration left = between(queue_.loop_.now(), deadline_);
  queue_.loop_.start(*this, outgoing_.empty() ? left : std::min(left, between_sends));
}

void securing_stream::expired() noexcept {
  if (queue_.loop_.now() >= deadline_) return is_undecided_ ? stay_plain() : finish(errc::tls_handshake_timeout);
  if (send()) start_timer();
}

error_code securing_stream::begin_to_read() noexcept { return queue_.loop_.io().add(*this, socket_); }
void securing_stream::stop_reading() noexcept { queue_.loop_.io().remove(*this); }

error_code securing_stream::set_reading(bool on) noexcept {
  if (std::exchange(is_reading_, on) == on) return {};
  return on ? begin_to_read() : (stop_reading(), error_code());
}

// ---- Receiving ------------------------------------------------------------------------------------------------------

// Nothing is read before its step: an engine must hold no bytes when the last step takes the stream from it.
void securing_stream::received(bytes arrived) noexcept try {
  incoming_.append(arrived);
  look_at_input();
  if (!has_finished_ && is_waiting()) (void)set_reading(false);
} catch (const std::bad_alloc&) {
  out_of_memory();
}

void securing_stream::received_end(error_code how) noexcept {
  peer_ended(how);
  if (!has_finished_) look_at_input();
}

// Leaves the bytes in the socket. A part of a TLS header is no event until more has come, so that it costs no turns. If
// nothing more can come, it is none.
bool securing_stream::is_detected() noexcept {
  if (!is_undecided_) return true;
  std::array<char, to_detect> first;  // NOLINT(cppcoreguidelines-pro-type-member-init): receive() fills it
  const ssize_t got = system_call::receive(socket_, first.data(), first.size(), MSG_DONTWAIT | MSG_PEEK);
  if (got <= 0) return true;
  const bytes seen(first.data(), static_cast<std::size_t>(got));
  const bool is_part = seen.size() < first.size();
  const auto is_all = [this] {
    return queue_.loop_.io().sockets().state_of_peer(socket_) != socket_services::peer_state::connected;
  };
  if (queue_.source_->examine(seen).failed || (is_part && is_all())) return stay_plain(), false;
  is_undecided_ = is_part;
  if (const error_code refused = wait_for(is_part ? int{to_detect} : 1)) return finish(refused), false;
  return !is_part;
}

error_code securing_stream::wait_for(int size) noexcept {
  if (std::exchange(waits_for_more_, size > 1) == (size > 1)) return {};
  const bool is_set = ::setsockopt(socket_, SOL_SOCKET, SO_RCVLOWAT, &size, sizeof size) == 0;
  return is_set ? error_code() : system_error_code(errno);
}

void securing_stream::stay_plain() noexcept {
  if (const error_code refused = wait_for(1)) return finish(refused);
  leave();
  finished({}, nullptr, {});
}

std::size_t securing_stream::most_waiting() const noexcept { return has_begun() ? most_incoming : most_of_first; }

void securing_stream::receive() noexcept try {
  if (!is_detected()) return;
  while (!has_finished_ && incoming_.size() < most_waiting() && receive_some()) {
  }
  if (!has_finished_) look_at_input();
} catch (const std::bad_alloc&) {
  out_of_memory();
}

// Returns whether there may be more.
bool securing_stream::receive_some() {
  std::array<char, 16 * 1024> place;  // NOLINT(cppcoreguidelines-pro-type-member-init): receive() fills it
  const std::size_t most = std::min(place.size(), most_waiting() - incoming_.size());
  const ssize_t got = system_call::receive(socket_, place.data(), most, MSG_DONTWAIT);
  if (got > 0) {
    incoming_.append(place.data(), static_cast<std::size_t>(got));
    return static_cast<std::size_t>(got) == most;
  }
  if (!system_call::is_for_now(got)) peer_ended(system_call::error_of(got));
  return false;
}

// A peer may send its last records, a request and a FIN together.
void securing_stream::peer_ended(error_code how) noexcept {
  if (!has_begun() || (incoming_.empty() && !aside_) || how) return finish(how ? how : errc::end_of_stream);
  has_ended_ = true;
}

void securing_stream::look_at_input() noexcept {
  if (has_ended_ || incoming_.size() >= most_waiting()) (void)set_reading(false);  // else each turn would report it
  if (incoming_.empty() || is_waiting()) return;
  if (!handshake_) {
    const auto first = queue_.source_->examine(incoming_);
    if (first.failed) return finish(first.failed);
    if (!first.is_whole) return;
  }
  await_turn();
}

void securing_stream::await_turn() noexcept {
  (handshake_ ? queue_.begun_ : queue_.new_).push_back(*this);
  queue_.schedule();
}

// ---- Steps ----------------------------------------------------------------------------------------------------------

// A light step here costs less than two wake-ups, of a thread and of this loop.
bool securing_stream::take_step() noexcept try {
  if (!handshake_)
    if (const error_code gone = begin()) return finish(gone), false;
  const bool goes_aside = queue_.goes_aside() && !handshake_->is_light();
  goes_aside ? send_aside() : step_here();
  return goes_aside;
} catch (const std::bad_alloc&) {
  out_of_memory();
  return false;
}

// Nothing begins for a peer that left while it waited.
error_code securing_stream::begin() {
  using enum socket_services::peer_state;
  if (queue_.loop_.io().sockets().state_of_peer(socket_) != connected) return errc::end_of_stream;
  handshake_ = queue_.source_->begin(server_name());
  ++queue_.in_progress_;
  queue_.counters_.begun.add();
  return {};
}

void securing_stream::step_here() {
  const handshake::result r = handshake_->step(incoming_, outgoing_);
  incoming_.erase(0, r.consumed);
  stepped(r, false);
}

// A listener ends, and what has arrived counts. It cannot be enough for a handshake that has not begun.
void securing_stream::finish_step_here() noexcept try {
  if (!has_begun()) return;
  if (aside_) {
    step_aside::work w = aside_->take_back();
    if (w.has_run) {
      returned(std::move(w));
    } else {
      take_over(w);
      await_turn();
    }
  }
  if (!securing_turn_hook::is_linked()) return;
  securing_turn_hook::unlink();
  step_here();
} catch (const std::bad_alloc&) {
  out_of_memory();
}

// The loop reads on, so it sees a peer that leaves.
void securing_stream::send_aside() {
  aside_ = new step_aside(queue_.loop_, *queue_.model_, *this,
                          {.of = std::move(handshake_), .in = std::exchange(incoming_, {}), .out = {}});
  ++queue_.aside_;
}

// Returns whether more has arrived meanwhile.
bool securing_stream::take_over(step_aside::work& w) {
  aside_ = nullptr;
  --queue_.aside_;
  handshake_ = std::move(w.of);
  outgoing_ += w.out;
  const bool has_more = !incoming_.empty();
  incoming_.insert(0, w.in, w.done.consumed);
  return has_more;
}

void securing_stream::returned(step_aside::work&& w) noexcept try {
  const bool has_more = take_over(w);
  queue_.schedule();  // before the end, which may forget an idle queue
  stepped(w.done, has_more);
} catch (const std::bad_alloc&) {
  out_of_memory();
}

// `has_more`: more has arrived since the step began.
void securing_stream::stepped(const handshake::result& r, bool has_more) {
  if (r.failed) return finish(r.failed);
  const bool is_sent = outgoing_.empty();
  if (!send()) return;
  if (r.is_done) return hand_over();
  if (!is_sent && !outgoing_.empty()) start_timer();
  if (has_more) return look_at_input();
  if (has_ended_) return finish(errc::end_of_stream);
  if (incoming_.size() >= most_incoming) return finish(errc::tls_bad_record);  // cannot be: records are shorter
  if (const error_code refused = set_reading(true)) return finish(refused);
}

std::ptrdiff_t securing_stream::send_some(bytes records) noexcept {
  return system_call::send(socket_, records.data(), records.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Returns false if the stream has ended.
bool securing_stream::send() noexcept {
  if (outgoing_.empty()) return true;
  const std::ptrdiff_t sent = send_some(outgoing_);
  if (sent > 0) outgoing_.erase(0, static_cast<std::size_t>(sent));
  if (sent >= 0 || system_call::is_for_now(sent)) return true;
  finish(system_call::error_of(sent));
  return false;
}

// ---- The end --------------------------------------------------------------------------------------------------------

void securing_stream::hand_over() {
  auto carried = std::make_unique<carried_filter>(handshake_->take_filter());
  if (!incoming_.empty()) carried->keep(incoming_);
  if (!outgoing_.empty() && !carried->wait(outgoing_)) throw std::bad_alloc();
  finish({}, std::move(carried));
}

void securing_stream::leave() noexcept {
  has_finished_ = true;
  securing_list_hook::unlink();
  securing_turn_hook::unlink();
  cancel();
  (void)set_reading(false);
  if (has_begun()) --queue_.in_progress_;
  handshake_.reset();
  if (aside_) {
    --queue_.aside_;
    std::exchange(aside_, nullptr)->abandon();
  }
  queue_.schedule();
  queue_.loop_.defer(*this);  // the engine may be dispatching
}

void securing_stream::finish(error_code failed, std::unique_ptr<transport> carried) noexcept {
  leave();
  count_end(queue_.counters_, failed);
  finished(failed, std::move(carried), is_failure(failed) ? bytes(outgoing_) : bytes());
}

}  // namespace quintet
