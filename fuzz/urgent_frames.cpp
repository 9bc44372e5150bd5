// SPDX-License-Identifier: BSL-1.0
// urgent_frames: a stream, cut anywhere, gives each urgent frame exactly once, and everything else in order.
#include <quintet/net/connection/urgent_frames.hpp>

#include "fuzz.hpp"

#include <quintet/base/framing/checked.hpp>
#include <quintet/base/framing/chunked.hpp>
#include <quintet/base/framing/delimiter.hpp>
#include <quintet/base/framing/envelope.hpp>
#include <quintet/base/framing/length_prefix.hpp>
#include <quintet/net/simulation.hpp>

#include <array>
#include <string>

namespace {

using namespace quintet;
using fuzz::require;
using testing::simulation;

/// A message that begins with '!' is urgent. The reply is the message with a line end.
struct handler {
  static bool is_urgent(bytes message) { return message.starts_with('!'); }
  static void on_urgent(urgent_reply& reply, bytes message) {
    reply.write(message);
    reply.write("\n");
  }
};

struct parts {
  std::string urgent, rest;
  unsigned answered = 0;
};

constexpr std::size_t longest_urgent = 4096;  // bytes of a frame whose codec knows the length in advance

/// Returns the expected result by simple code over the whole stream.
template <class Codec>
parts expected_of(Codec wire, bytes stream) {
  parts out;
  while (!stream.empty()) {
    const bool whole = !within_message(wire);
    const frame f = wire.parse(stream);
    if (f.is == frame::state::incomplete || f.is == frame::state::failed) break;
    const bool may_be = whole && (!transparent_codec<Codec> || f.size <= longest_urgent);
    if (f.is == frame::state::complete && may_be && handler::is_urgent(f.message)) {
      out.urgent.append(f.message).append("\n");
      ++out.answered;
    } else {
      out.rest.append(stream.substr(0, f.size));
    }
    stream.remove_prefix(f.size);
  }
  out.rest.append(stream);
  return out;
}

template <class Codec>
parts filtered(const Codec& wire, const std::vector<bytes>& pieces, detail::urgent_result& found) {
  detail::urgent_filter<Codec> filter(wire);
  parts out;
  const auto filter_urgent = [&](bytes piece, bool at_end) {
    found.begin(std::string::npos);
    out.rest.append(filter.template filter_urgent<handler>(piece, at_end, found));
    out.urgent.append(found.reply);
    out.answered += found.answered;
  };
  for (const bytes& piece : pieces) filter_urgent(piece, false);
  filter_urgent({}, true);
  return out;
}

template <class Codec>
void check(const Codec& wire, bytes stream, std::uint8_t plan, detail::urgent_result& found) {
  const parts expected = expected_of(wire, stream);
  const auto compare = [&](const std::vector<bytes>& pieces) {
    const parts got = filtered(wire, pieces, found);
    require(got.urgent == expected.urgent && got.answered == expected.answered, "each urgent frame is answered once");
    require(got.rest == expected.rest, "the rest is left in order");
  };
  compare({stream});
  fuzz::for_each_cut(stream, plan, compare);
}

/// Returns a stream of the input's messages, each after a length byte. 255 means a long message.
template <class Codec>
std::string framed_messages(const Codec& wire, fuzz::input in) {
  std::string stream;
  const auto put = [&stream](const envelope& e) {
    for (const bytes& piece : e.pieces()) stream += piece;
  };
  while (!in.empty() && stream.size() < 100'000) {
    const std::size_t size = in.byte();
    std::string message(in.take(size == 255 ? 3 : size));
    if (size == 255) message.append(longest_urgent - 8 + in.byte() % 16U, 'x');
    if constexpr (requires { wire.wrap_all(message, put); }) {
      (void)wire.wrap_all(message, put);
    } else {
      envelope e(message);
      if (!wire.wrap(e)) put(e);
    }
  }
  return stream;
}

template <class Codec>
void check(const Codec& wire, bool is_stream, fuzz::input in, detail::urgent_result& found) {
  const std::uint8_t plan = in.byte();
  if (is_stream) return check(wire, in.rest(), plan, found);
  const std::string stream = framed_messages(wire, in);
  if (stream.size() < longest_urgent) return check(wire, stream, plan, found);
  const parts expected = expected_of(wire, stream);
  const std::size_t at = stream.size() * plan / 256;
  const std::vector<bytes> whole{stream}, cut{bytes(stream).substr(0, at), bytes(stream).substr(at)};
  for (const auto& pieces : {whole, cut}) {
    const parts got = filtered(wire, pieces, found);
    require(got.urgent == expected.urgent && got.rest == expected.rest,
            "also a long one is urgent or not, however cut");
  }
}

constexpr chunking both{.send = true, .receive = true, .max_message = 600};
using check_function = void (*)(bool, fuzz::input, detail::urgent_result&);
constexpr std::array<check_function, 7> checks{
    [](bool s, fuzz::input in, detail::urgent_result& f) { check(length_prefix<1>(), s, in, f); },
    [](bool s, fuzz::input in, detail::urgent_result& f) { check(length_prefix<2>(6000), s, in, f); },
    [](bool s, fuzz::input in, detail::urgent_result& f) { check(varint_prefix(6000), s, in, f); },
    [](bool s, fuzz::input in, detail::urgent_result& f) { check(delimiter("\n", 6000), s, in, f); },
    [](bool s, fuzz::input in, detail::urgent_result& f) { check(delimiter("!!", 6000), s, in, f); },
    [](bool s, fuzz::input in, detail::urgent_result& f) { check(checked(length_prefix<2>(6000)), s, in, f); },
    [](bool s, fuzz::input in, detail::urgent_result& f) { check(chunked(length_prefix<1>(30), both), s, in, f); },
};

}  // namespace

// The first byte chooses a codec: a lowercase letter for a stream, an uppercase one for messages. The second byte is
// the plan of the cuts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static simulation world(1);
  static detail::urgent_result found(world.make_loop());
  fuzz::input in(data, size);
  const std::uint8_t choice = in.byte();
  checks[(choice & 0x1fU) % checks.size()]((choice & 0x20U) != 0, in, found);
  return 0;
}
