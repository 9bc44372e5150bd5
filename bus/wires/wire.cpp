// SPDX-License-Identifier: BSL-1.0
// wire: reads and writes the frames of a connection.
#include "wire.hpp"

#include <algorithm>
#include <utility>

namespace quintet::bus {

// Fits into one chunk of a connection's output together with an acknowledgement, so that the output stays in one piece.
static constexpr std::size_t piece = 16'000;

wire::wire(const wire_host& host, wire_user* of, bus_route route)
    : host_(host),
      node_(host.node),
      user_(of),
      codec_(length_prefix<4>(header_size + hello_size), host.node.options().max_checksum_errors),
      route_(route),
      is_dialed_(of != nullptr) {}

wire::~wire() { ended(); }

void wire::ended() noexcept {
  phase_ = phase::closed;
  if (wire_user* const u = std::exchange(user_, nullptr)) u->on_lost(*this);
}

void wire::abandon() noexcept {
  user_ = nullptr;
  phase_ = phase::closed;
  shut();
}

void wire::opened() {
  if (phase_ == phase::closed) return shut();  // abandoned meanwhile
  if (is_dialed_) greet();
}

void wire::fail(const char* what, error_code why) {
  if (phase_ == phase::closed) return;
  phase_ = phase::closed;
  node_.report_failure(user_ ? user_->id() : 0, what, why);
  shut();
}

// ---- Input ----------------------------------------------------------------------------------------------------------

// What is in the batch counts as received. So it is delivered also if a later frame cannot be handled for lack of
// memory.
void wire::received(bytes in) {
  try {
    parse(in);
  } catch (...) {
    node_.deliver();
    throw;
  }
  node_.deliver();
  flush();
}

void wire::parse(bytes in) {
  while (!in.empty() && phase_ != phase::closed) {
    if (partial_.empty()) {
      const frame f = codec_.parse(in);
      if (f.is != frame::state::incomplete) {
        handle(f);
        in.remove_prefix(f.size);
        continue;
      }
      partial_needs_ = f.size;
    }
    const std::size_t count = std::min(in.size(), partial_needs_ - partial_.size());
    partial_.append(in.substr(0, count));
    in.remove_prefix(count);
    if (partial_.size() == partial_needs_) handle_partial();
  }
}

// The size of a frame is known when its prefix is complete.
void wire::handle_partial() {
  const frame f = codec_.parse(partial_.data());
  if (f.is == frame::state::incomplete) {
    partial_needs_ = f.size;
    return;
  }
  handle(f);
  node_.deliver();
  partial_.clear();
}

/// Returns whether this is the next message in sequence. False for duplicates after a reconnect, and for messages
/// behind a lost one.
inline bool wire::accept(std::uint32_t sequence) {
  if (phase_ != phase::open) [[unlikely]] {
    fail("a message before the start frame");
    return false;
  }
  const auto ahead = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(user_->received() + 1));
  ack_due_ = true;
  if (ahead == 0) [[likely]] {
    user_->count_received();
    return true;
  }
  if (ahead < 0)
    node_.counters().duplicates.add();
  else if (asked_ == 0)
    fail("a message whose predecessor is missing");
  return false;
}

void wire::handle(const frame& f) {
  if (f.is != frame::state::complete) [[unlikely]] {
    if (f.error == errc::bad_checksum) node_.counters().checksum_errors.add();
    return f.is == frame::state::failed ? fail("a frame with a wrong length or checksum", f.error) : ask_again();
  }
  const auto h = decode_header(f.message);
  if (!h) return fail("a frame without a header");
  const bytes body = f.message.substr(header_size);
  if (h->type == frame_type::message) [[likely]] {
    if (body.size() > node_.options().max_message) [[unlikely]]
      return fail("a message above max_message");
    if (accept(h->sequence)) node_.add({user_->id(), body});
  } else if (h->type == frame_type::routed) {
    handle_routed(*h, body);
  } else {
    node_.deliver();  // what follows may call functions of the program
    handle_control(*h, body);
  }
}

void wire::handle_routed(const frame_header& h, bytes body) {
  bytes payload = body;
  const auto r = take_routing(payload);
  const bool is_right = (h.flags & is_receipt) != 0 ? payload.size() == sizeof(std::uint32_t)
                                                    : payload.size() <= node_.options().max_message;
  if (!r || !is_right) return fail("a forwarded message of a wrong size");
  if (accept(h.sequence)) user_->routed(h, *r, body);
}

void wire::handle_control(const frame_header& h, bytes body) {
  if (phase_ == phase::greeting) {
    const auto said = decode_hello(body);
    return h.type == frame_type::hello && said
               ? handle_hello(*said)
               : fail("a first frame that is no hello; all nodes need the same version of Quintet");
  }
  const auto number = decode_number(body);
  if (!number) return fail("a control frame without a number");
  if ((phase_ == phase::open) == (h.type == frame_type::start))
    return fail("a second start frame, or another frame before the first");
  switch (h.type) {
    case frame_type::start:
      if (*number == 0) return fail("a start frame with number 0");
      phase_ = phase::open;
      return user_->on_start(*this, *number);
    case frame_type::acknowledge:
      if (!user_->acknowledged(*number)) fail("an acknowledgement of a message that was not sent");
      return;
    case frame_type::resend:
      return rewind(*number, (h.flags & is_repeated) != 0);
    default:
      return fail("a frame of an unknown type; all nodes need the same version of Quintet");
  }
}

// All checks come before the first effect: a wrong hello must not harm a link that works.
void wire::handle_hello(const hello& h) {
  if (h.target != node_.id() || h.id == node_.id())
    return fail("a hello for another node; check the addresses that it connects to");
  if (h.max_message != node_.options().max_message)
    return fail("a hello with another max_message; all nodes need the same");
  if (is_dialed_ && h.id != user_->id()) return fail("a hello of another node; check the addresses of connect()");
  wire_user* const u = is_dialed_ ? user_ : host_.accept(h);
  if (!u) {  // refused
    phase_ = phase::closed;
    return shut();
  }
  if (u->contradicts(h)) return fail("a hello that acknowledges messages which were not sent");
  phase_ = phase::answered;
  codec_ = codec(length_prefix<4>(node_.options().max_message + largest_overhead), node_.options().max_checksum_errors);
  if (!is_dialed_) route_ = h.route;
  user_ = u;
  u->on_hello(*this, h);
}

// For each frame with a wrong checksum, at once: no other frame may follow. If it was an acknowledgement, the peer's
// answer has it. If it was a request of the peer, the peer repeats that one.
void wire::ask_again(std::uint8_t flags) {
  if (phase_ != phase::open) return;
  asked_ = user_->received() + 1;
  (void)write(encode(frame_type::resend, asked_, flags).data());
}

void wire::rewind(std::uint64_t number, bool is_repetition) {
  const send_queue& out = user_->out();
  if (number <= out.acknowledged() || number > out.last() + 1)
    return fail("a request for a message that is not queued");
  ack_due_ = true;  // the lost frame may have been an acknowledgement
  node_.counters().resent.add(out.last() + 1 - number);
  cursor_ = out.find(number);
  // The frame that the peer has lost may have been this side's own request.
  if (!is_repetition && asked_ == user_->received() + 1) ask_again(is_repeated);
}

// ---- Output ---------------------------------------------------------------------------------------------------------

void wire::begin_to_send(send_queue::cursor from, std::uint64_t first) {
  cursor_ = from;
  phase_ = std::max(phase_, phase::sending);
  (void)write(encode(frame_type::start, first).data());
  request_flush();
}

void wire::flush() {
  flush_due_ = false;
  if (phase_ != phase::sending && phase_ != phase::open) return;
  if (ack_due_ && can_write() && write(encode(frame_type::acknowledge, user_->received()).data())) ack_due_ = false;
  if (!user_->is_current(*this)) return;
  const send_queue& out = user_->out();
  while (can_write()) {
    if (const shared_bytes chunk = out.peek_chunk(cursor_)) {
      if (!write_chunk(chunk)) return;
      cursor_.offset = chunk->size();
      push();
    } else if (const bytes rest = out.peek(cursor_); rest.empty() || !write_rest(rest)) {
      return;
    }
  }
}

// Writes all of the chunk, so that it ends with a frame: the next flush may begin with an acknowledgement.
bool wire::write_rest(bytes rest) {
  while (!rest.empty()) {
    const bytes part = rest.substr(0, piece);
    if (!write(part)) return false;
    cursor_.offset += part.size();
    if (part.size() == piece) push();
    rest.remove_prefix(part.size());
  }
  return true;
}

}  // namespace quintet::bus
