// SPDX-License-Identifier: BSL-1.0
// support: sends messages through codecs as a connection does: frames them, cuts the stream, and parses it.
#pragma once

#include <quintet/base/framing/chunked.hpp>
#include <quintet/base/framing/envelope.hpp>
#include <quintet/base/framing/frame.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace quintet {

inline std::ostream& operator<<(std::ostream& out, errc e) { return out << make_error_code(e); }
inline std::ostream& operator<<(std::ostream& out, frame::state s) { return out << static_cast<int>(s); }

}  // namespace quintet

namespace quintet::testing {

template <class Codec>
std::string framed_as(const Codec& wire, bytes message) {
  envelope e(message);
  BOOST_REQUIRE(!wire.wrap(e));
  std::string out;
  for (const bytes& piece : e.pieces()) out += piece;
  BOOST_TEST(out.size() == e.size());
  return out;
}
template <class Codec>
error_code refusal(const Codec& wire, bytes message) {
  envelope e(message);
  return wire.wrap(e);
}

/// The receiving side: offers unused bytes again, followed by more.
template <class Codec>
class receiver {
 public:
  explicit receiver(Codec wire) : wire_(std::move(wire)) {}

  /// Parses `more` behind the unused bytes. Returns false, with `error` set, if the input is malformed.
  bool receive(bytes more) {
    unused_ += more;
    std::size_t used = 0;
    for (;;) {
      const bytes in = bytes(unused_).substr(used);
      const frame f = wire_.parse(in);
      if (f.is == frame::state::failed) {
        error = f.error;
        return false;
      }
      if (f.is == frame::state::incomplete) {
        BOOST_REQUIRE(f.size > in.size());  // else the codec would be called again without new input
        needed = f.size;
        break;
      }
      BOOST_REQUIRE(f.size > 0U);
      BOOST_REQUIRE(f.size <= in.size());
      used += f.size;
      if (f.is == frame::state::complete) messages.emplace_back(f.message);
    }
    unused_.erase(0, used);
    return true;
  }
  [[nodiscard]] bool is_between_messages() const { return unused_.empty() && !within_message(wire_); }
  [[nodiscard]] const std::string& unused() const { return unused_; }

  std::vector<std::string> messages;
  std::size_t needed = 0;
  error_code error;

 private:
  Codec wire_;
  std::string unused_;
};

/// Checks a stream of several messages in one piece, in any two pieces, and byte by byte.
template <class Codec>
void check_every_cut(const Codec& wire, const std::string& stream, const std::vector<std::string>& expected) {
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    receiver<Codec> r(wire);
    BOOST_REQUIRE(r.receive(stream.substr(0, cut)));
    BOOST_REQUIRE(r.receive(stream.substr(cut)));
    BOOST_TEST(r.messages == expected, boost::test_tools::per_element());
    BOOST_TEST(r.is_between_messages());
  }
  receiver<Codec> slow(wire);
  for (const char byte : stream) BOOST_REQUIRE(slow.receive({&byte, 1}));
  BOOST_TEST(slow.messages == expected, boost::test_tools::per_element());
  BOOST_TEST(slow.is_between_messages());
}
template <class Codec>
void check_round_trip(const Codec& wire, const std::vector<std::string>& messages) {
  std::string stream;
  for (const std::string& m : messages) stream += framed_as(wire, m);
  check_every_cut(wire, stream, messages);
}

/// Parses one input with a copy of the codec.
template <class Codec>
frame parse_once(Codec wire, bytes in) {
  return wire.parse(in);
}

}  // namespace quintet::testing
