// SPDX-License-Identifier: BSL-1.0
// framing: for all codecs, a stream gives the same messages, error and used bytes in one piece and in many.
#include "fuzz.hpp"

#include <quintet/base/framing/checked.hpp>
#include <quintet/base/framing/chunked.hpp>
#include <quintet/base/framing/delimiter.hpp>
#include <quintet/base/framing/envelope.hpp>
#include <quintet/base/framing/fixed_length.hpp>
#include <quintet/base/framing/length_prefix.hpp>

#include <array>
#include <bit>
#include <limits>
#include <string>

namespace {

using namespace quintet;
using fuzz::require;

struct outcome {
  std::vector<std::string> messages;
  error_code error;
  std::size_t used = 0;
  bool within = false;
  bool operator==(const outcome&) const = default;
};

/// The receiving side. A patient receiver parses only after the codec's requested size has arrived.
template <class Codec>
class receiver {
 public:
  receiver(const Codec& wire, bool patient) : wire_(wire), patient_(patient) {}

  void receive(bytes more) {
    if (got_.error) return;
    unused_.append(more);
    if (!patient_ || unused_.size() >= needed_) unused_.erase(0, parse(unused_));
  }
  /// Parses the whole stream without a copy.
  void receive_in_place(bytes all) { parse(all); }
  outcome result() {
    got_.within = within_message(wire_);
    return got_;
  }

 private:
  std::size_t parse(bytes in) {
    for (bytes rest = in;;) {
      const frame f = wire_.parse(rest);
      if (f.is == frame::state::failed) {
        require(f.error.failed(), "a failed frame has an error");
        got_.error = f.error;
        return in.size();
      }
      if (f.is == frame::state::incomplete) {
        require(f.size > rest.size(), "an incomplete frame asks for more than there is");
        needed_ = f.size;
        return in.size() - rest.size();
      }
      require(f.size > 0 && f.size <= rest.size(), "a frame takes a part of the input");
      if (f.is == frame::state::complete) got_.messages.emplace_back(f.message);
      got_.used += f.size;
      rest.remove_prefix(f.size);
    }
  }

  Codec wire_;
  bool patient_;
  std::string unused_;
  std::size_t needed_ = 0;
  outcome got_;
};

template <class Codec>
std::string wrapped(const Codec& wire, bytes message) {
  std::string out;
  const auto put = [&out](const envelope& e) {
    for (const bytes& piece : e.pieces()) out.append(piece);
  };
  if constexpr (requires { wire.wrap_all(message, put); }) {
    require(!wire.wrap_all(message, put), "a message that was received can be sent");
  } else {
    envelope e(message);
    require(!wire.wrap(e), "a message that was received can be sent");
    put(e);
  }
  return out;
}

/// Whether a message is the whole frame, with a length that wrap() fills in.
template <class Codec>
constexpr bool keeps_header = false;
template <class Codec>
  requires Codec::keeps_header
constexpr bool keeps_header<Codec> = true;

template <class Codec>
outcome check_stream(const Codec& wire, bytes stream, std::uint8_t plan) {
  receiver<Codec> at_once(wire, false);
  at_once.receive_in_place(stream);
  const outcome expected = at_once.result();
  fuzz::for_each_cut(stream, plan, [&](const std::vector<bytes>& pieces) {
    receiver<Codec> eager(wire, false), patient(wire, true);
    for (const bytes& piece : pieces) {
      eager.receive(piece);
      patient.receive(piece);
    }
    require(eager.result() == expected, "cuts change nothing");
    require(patient.result() == expected, "a codec asks for no more than it needs");
  });
  std::string again;
  for (const std::string& message : expected.messages) again += wrapped(wire, message);
  receiver<Codec> second(wire, false);
  second.receive_in_place(again);
  require(second.result().messages == expected.messages, "messages survive the way there and back");
  return expected;
}

/// Takes messages from the input, each after a length byte, and checks that they are received as sent.
template <class Codec>
void check_messages(const Codec& wire, fuzz::input in, std::uint8_t plan) {
  std::vector<std::string> messages;
  std::string stream;
  while (!in.empty()) {
    const std::size_t size = in.byte();
    const bytes message = in.take(size);
    envelope e(message);
    if (wire.wrap(e)) continue;
    const std::string sent = wrapped(wire, message);
    messages.emplace_back(keeps_header<Codec> ? sent : std::string(message));
    stream += sent;
  }
  const outcome got = check_stream(wire, stream, plan);
  require(got.messages == messages && !got.error && got.used == stream.size() && !got.within,
          "what was sent is received");
}

template <class Codec>
void check(const Codec& wire, bool is_stream, fuzz::input in) {
  const std::uint8_t plan = in.byte();
  if (is_stream)
    check_stream(wire, in.rest(), plan);
  else
    check_messages(wire, in, plan);
}

constexpr chunking both{.send = true, .receive = true, .max_message = 600};
using check_function = void (*)(bool, fuzz::input);
constexpr std::array<check_function, 22> checks{
    [](bool s, fuzz::input in) { check(length_prefix<1>(200), s, in); },
    [](bool s, fuzz::input in) { check(length_prefix<2>(300), s, in); },
    [](bool s, fuzz::input in) { check(length_prefix<3, std::endian::little>(), s, in); },
    [](bool s, fuzz::input in) { check(length_prefix<4>(1000), s, in); },
    [](bool s, fuzz::input in) { check(length_prefix<8>(std::numeric_limits<std::size_t>::max()), s, in); },
    [](bool s, fuzz::input in) { check(varint_prefix(300), s, in); },
    [](bool s, fuzz::input in) { check(varint_prefix(std::numeric_limits<std::size_t>::max()), s, in); },
    [](bool s, fuzz::input in) { check(delimiter("\n", 40), s, in); },
    [](bool s, fuzz::input in) { check(delimiter("\r\n", 0), s, in); },
    [](bool s, fuzz::input in) { check(delimiter("abab", 40), s, in); },
    [](bool s, fuzz::input in) { check(fixed_length<1>(), s, in); },
    [](bool s, fuzz::input in) { check(fixed_length(7), s, in); },
    [](bool s, fuzz::input in) { check(checked(varint_prefix(64)), s, in); },
    [](bool s, fuzz::input in) { check(checked<length_prefix<2>, 8>(length_prefix<2>(300)), s, in); },
    [](bool s, fuzz::input in) { check(checked(fixed_length(3)), s, in); },
    [](bool s, fuzz::input in) { check(chunked(length_prefix<1>(), both), s, in); },
    [](bool s, fuzz::input in) { check(chunked(checked(varint_prefix(20)), both), s, in); },
    [](bool s, fuzz::input in) { check(chunked(length_prefix<2>(90), {}), s, in); },
    [](bool s, fuzz::input in) { check(length_prefix<1, std::endian::big, 1, -1>(200), s, in); },
    [](bool s, fuzz::input in) { check(length_prefix<2, std::endian::little, 5>(300), s, in); },
    [](bool s, fuzz::input in) { check(length_prefix<1, std::endian::little, 0, 1>(), s, in); },
    [](bool s, fuzz::input in) {
      check(length_prefix<8, std::endian::big, 3, -11>(std::numeric_limits<std::size_t>::max()), s, in);
    },
};

}  // namespace

// The first byte chooses a codec: a lowercase letter for a stream, an uppercase one for messages. The second byte is
// the plan of the cuts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::uint8_t choice = in.byte();
  checks[(choice & 0x1fU) % checks.size()]((choice & 0x20U) != 0, in);
  return 0;
}
