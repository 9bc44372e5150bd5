// SPDX-License-Identifier: BSL-1.0
// wire: reads and writes the frames of a connection.
#include "wire.hpp"

#include "link.hpp"
#include "node.hpp"

#include "../../net/connection/connection_registry.hpp"

#include <algorithm>
#include <utility>

namespace quintet::bus {
namespace {

// Fits into one chunk of a connection's output together with an acknowledgement, so that the output stays in one piece.
constexpr std::size_t piece = 16'000;
// Bytes that a connection may hold, and the rest of a chunk. More would only wait there instead of in the link's queue.
constexpr std::size_t window = 128 * 1024;

}  // namespace

wire::wire(node& owner, link* of, bus_route route)
    : node_(owner),
      link_(of),
      codec_(length_prefix<4>(header_size + hello_size), owner.options().max_checksum_errors),
      route_(route),
      is_dialed_(of != nullptr) {}

wire::~wire() { ended(); }

void wire::ended() noexcept {
  is_closed_ = true;
  if (link* const l = std::exchange(link_, nullptr)) l->lost(*this);
}

void wire::abandon() noexcept {
  link_ = nullptr;
  is_closed_ = true;
  shut();
}

void wire::opened() {
  if (!is_dialed_) return;
  if (!link_) return shut();  // given up meanwhile
  (void)write(encode(link_->make_hello(route_)).data());
}

void wire::fail(const char* what, error_code why) {
  if (is_closed_) return;
  is_closed_ = true;
  node_.report_failure(link_ ? link_->id() : 0, what, why);
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
  while (!is_closed_) {
    const bool in_place = partial_.empty();
    const frame f = codec_.parse(in_place ? in : partial_.data());
    if (f.is == frame::state::incomplete) {
      if (in.empty()) break;
      const std::size_t count = std::min(in.size(), f.size - partial_.size());
      partial_.append(in.substr(0, count));
      in.remove_prefix(count);
      continue;
    }
    handle(f);
    if (in_place) {
      in.remove_prefix(f.size);
    } else {
      node_.deliver();
      partial_.clear();
    }
  }
}

/// Returns whether this is the next message.
inline bool wire::accept(std::uint32_t sequence) {
  if (!is_started_ || !link_) [[unlikely]] {
    fail("a message comes before the hello and the start");
    return false;
  }
  const auto ahead = static_cast<std::int32_t>(sequence - static_cast<std::uint32_t>(link_->received() + 1));
  ack_due_ = true;
  if (ahead == 0) [[likely]] {
    link_->count_received();
    return true;
  }
  refuse(ahead);
  return false;
}

void wire::handle(const frame& f) {
  if (f.is != frame::state::complete) [[unlikely]] {
    if (f.error == errc::bad_checksum) node_.counters().checksum_errors.add();
    return f.is == frame::state::failed ? fail("a frame is wrong", f.error) : ask_again();
  }
  const auto h = decode_header(f.message);
  if (!h) return fail("a frame has no header");
  const bytes body = f.message.substr(header_size);
  if (h->type == frame_type::message) [[likely]] {
    if (body.size() > node_.options().max_message) [[unlikely]]
      return fail("a message is larger than max_message");
    if (accept(h->sequence)) node_.add({link_->id(), body});
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
  if (!r || !is_right) return fail("a routed message is wrong");
  if (accept(h.sequence)) node_.take_routed(*link_, h, *r, body);
}

// Not the next message: one that comes again after a change of connections, or behind one that was lost.
void wire::refuse(std::int32_t ahead) {
  if (ahead < 0)
    node_.counters().duplicates.add();
  else if (asked_ == 0)
    fail("a message is missing");
}

// For each frame with a wrong checksum, at once: no other frame may follow. If it was an acknowledgement, the peer's
// answer has it. If it was a request of the peer, the peer repeats that one.
void wire::ask_again(std::uint8_t flags) {
  if (!is_started_ || !link_) return;
  asked_ = link_->received() + 1;
  (void)write(encode(frame_type::resend, asked_, flags).data());
}

void wire::handle_control(const frame_header& h, bytes body) {
  if (!is_greeted_) {
    const auto said = decode_hello(body);
    return h.type == frame_type::hello && said ? greeted(*said) : fail("the first frame is no hello");
  }
  const auto number = decode_number(body);
  if (!number || !link_) return fail("a frame has no number");
  if (is_started_ == (h.type == frame_type::start)) return fail("a start comes twice, or another frame before it");
  switch (h.type) {
    case frame_type::start:
      if (*number == 0) return fail("a start is at 0");
      is_started_ = true;
      return link_->start_at(*this, *number);
    case frame_type::acknowledge:
      if (!link_->acknowledged(*number)) fail("a message is acknowledged that was not sent");
      return;
    case frame_type::resend:
      return rewind(*number, (h.flags & is_repeated) != 0);
    default:
      return fail("a frame has an unknown type");
  }
}

// All checks come before the first effect: a wrong hello must not harm a link that works.
void wire::greeted(const hello& h) {
  if (h.target != node_.id() || h.id == node_.id()) return fail("the hello is for another node");
  if (h.max_message != node_.options().max_message) return fail("its max_message is another one");
  if (is_dialed_ && h.id != link_->id()) return fail("the hello is of another node");
  link* const l = is_dialed_ ? link_ : node_.link_for_accepted(h);
  if (!l) {  // refused
    is_closed_ = true;
    return shut();
  }
  if (l->contradicts(h)) return fail("the hello contradicts the link");
  is_greeted_ = true;
  codec_ = codec(length_prefix<4>(node_.options().max_message + largest_overhead), node_.options().max_checksum_errors);
  if (!is_dialed_) route_ = h.route;
  link_ = l;
  l->establish(*this, h);
}

void wire::rewind(std::uint64_t number, bool is_repetition) {
  const send_queue& out = link_->out();
  if (number <= out.acknowledged() || number > out.last() + 1) return fail("a message is asked for that is not there");
  ack_due_ = true;  // the lost frame may have been an acknowledgement
  node_.counters().resent.add(out.last() + 1 - number);
  cursor_ = out.find(number);
  // The frame that the peer has lost may have been this side's own request.
  if (!is_repetition && asked_ == link_->received() + 1) ask_again(is_repeated);
}

// ---- Output ---------------------------------------------------------------------------------------------------------

void wire::begin_to_send(send_queue::cursor from, std::uint64_t first) {
  cursor_ = from;
  sends_ = true;
  (void)write(encode(frame_type::start, first).data());
  request_flush();
}

void wire::flush() {
  flush_due_ = false;
  if (is_closed_ || !link_ || !sends_) return;
  if (ack_due_ && can_write() && write(encode(frame_type::acknowledge, link_->received()).data())) ack_due_ = false;
  if (!link_->is_current(*this)) return;
  const send_queue& out = link_->out();
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

// ---- Over a connection ----------------------------------------------------------------------------------------------

class socket_wire::at_hand {
 public:
  at_hand(socket_wire& w, connection& c) noexcept : wire_(w) { wire_.at_hand_ = &c; }
  ~at_hand() { wire_.at_hand_ = nullptr; }
  at_hand(const at_hand&) = delete;
  at_hand& operator=(const at_hand&) = delete;

 private:
  socket_wire& wire_;
};

void socket_wire::on_open(connection& c) {
  const at_hand scope(*this, c);
  id_ = c.id();
  registry_ = &c.registry();
  opened();
}

void socket_wire::on_input(connection& c, bytes in) {
  const at_hand scope(*this, c);
  received(in);
  if (kept_bytes() > 0) c.count_kept_input(kept_bytes());
  if (is_within_message()) c.mark_incomplete();
}

bool socket_wire::write(bytes data) {
  if (!at_hand_ || !at_hand_->write(data)) return false;
  in_window_ += data.size();
  return true;
}

bool socket_wire::write_chunk(shared_bytes data) {
  const std::size_t size = data->size();
  if (!at_hand_ || !at_hand_->write(std::move(data))) return false;
  in_window_ += size;
  return true;
}

bool socket_wire::can_write() {
  if (!at_hand_ || in_window_ < window) return at_hand_ != nullptr;
  if (waits_) return false;
  at_hand_->when_sent([this](error_code failed) {
    waits_ = false;
    in_window_ = 0;
    if (!failed) request_flush();
  });
  waits_ = true;
  return false;
}

void socket_wire::schedule_flush() {
  if (at_hand_ || !registry_) return;  // the call that is in progress flushes
  (void)registry_->post(id_, [this](connection& c) {
    const at_hand scope(*this, c);
    flush();
  });
}

void socket_wire::shut() noexcept try {
  if (at_hand_)
    at_hand_->close();
  else if (registry_)
    (void)registry_->close(id_);
} catch (const std::bad_alloc&) {  // the peer closes, or a limit of time does
}

}  // namespace quintet::bus
