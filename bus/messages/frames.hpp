// SPDX-License-Identifier: BSL-1.0
// frames: what the nodes of a bus write on their connections.
#pragma once

#include "../../base/encoding/checksum.hpp"
#include "../../base/encoding/integers.hpp"
#include "../../base/framing/checked.hpp"
#include "../../base/framing/length_prefix.hpp"
#include "bus_options.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace quintet::bus {

/// A frame is `checked(length_prefix<4>())` around a header of eight bytes and a body. Numbers of header and body are
/// little-endian, of fixed width.
///
///     length 4 | checksum 4 | type 1 | flags 1 | hops 1 | 0 | sequence 4 | body
using codec = checked<length_prefix<4>>;

constexpr std::size_t prefix_size = 8, header_size = 8, routing_size = 24;
/// Bytes of a message's frame beside its payload, at most.
constexpr std::size_t largest_overhead = prefix_size + header_size + routing_size;

enum class frame_type : std::uint8_t {
  hello = 1,    ///< the first frame of each side; its body is `hello`
  start,        ///< the sequence number of the next message on this connection
  message,      ///< from this peer, for this node; the body is the payload
  routed,       ///< the body is `routing` and the payload
  acknowledge,  ///< the sequence number of the last message that was received
  resend,       ///< the sequence number from which on messages were lost: a checksum was wrong; may be is_repeated
};

/// Flags of a routed frame.
constexpr std::uint8_t wants_receipt = 1, is_receipt = 2;
/// A flag of a resend frame: the first request may have been lost. It asks for no repetition in return.
constexpr std::uint8_t is_repeated = 1;

struct frame_header {
  frame_type type;
  std::uint8_t flags = 0;
  std::uint8_t hops = 0;       ///< of a routed frame: nodes that have forwarded it
  std::uint32_t sequence = 0;  ///< of message and routed: the lower half of the number
};

/// Between nodes that have no link with each other. `tag` is the source's number of a message that wants a receipt.
struct routing {
  std::uint64_t source, destination, tag;
};

struct hello {
  static constexpr std::uint32_t current_version = 1;
  std::uint64_t id, target;   ///< of the sender, and of the node that it means
  std::uint64_t epoch;        ///< of the sender's start
  std::uint64_t known_epoch;  ///< of the receiver, as the sender has last seen it; 0: never
  std::uint64_t received;     ///< the last sequence number received from that start of the receiver
  std::uint32_t max_message;  ///< of the sender
  bus_route route;            ///< as the connecting side knows it
  bool is_pinned;             ///< the sender was told to use this route
};
constexpr std::size_t hello_size = 56;

/// Returns the number at the front of `from`, which must be long enough.
template <class T>
[[nodiscard]] inline T load(bytes from) noexcept {
  return static_cast<T>(quintet::decode_number<sizeof(T), std::endian::little>(from));
}
template <class T>
inline void store(char* to, T value) noexcept {
  const auto raw = encode_number<sizeof(T), std::endian::little>(value);
  std::memcpy(to, raw.data(), raw.size());
}

/// Writes what precedes the body of `body` bytes at `place + prefix_size + header_size`, which is there already.
inline void seal(char* place, const frame_header& h, std::size_t body) noexcept {
  char* const header = place + prefix_size;
  store(header, std::uint64_t{static_cast<std::uint8_t>(h.type)} | std::uint64_t{h.flags} << 8U |
                    std::uint64_t{h.hops} << 16U | std::uint64_t{h.sequence} << 32U);
  const auto length = static_cast<std::uint32_t>(4 + header_size + body);
  const auto sum = static_cast<std::uint32_t>(checksum({header, header_size + body}));
  const auto prefix = encode_number<prefix_size, std::endian::big>(std::uint64_t{length} << 32U | sum);
  std::memcpy(place, prefix.data(), prefix.size());
}

/// Returns the size of the whole frame that begins here, as seal() has written it.
[[nodiscard]] inline std::size_t sealed_size(const char* place) noexcept {
  return 4 + quintet::decode_number<4, std::endian::big>({place, 4});
}

/// Returns nothing if `message` is too short for a header.
[[nodiscard]] inline std::optional<frame_header> decode_header(bytes message) noexcept {
  if (message.size() < header_size) return std::nullopt;
  const auto all = load<std::uint64_t>(message);
  return frame_header{static_cast<frame_type>(all & 0xffU), static_cast<std::uint8_t>(all >> 8U),
                      static_cast<std::uint8_t>(all >> 16U), static_cast<std::uint32_t>(all >> 32U)};
}

[[nodiscard]] inline std::array<char, routing_size> encode(const routing& r) noexcept {
  std::array<char, routing_size> a{};
  store(a.data(), r.source);
  store(a.data() + 8, r.destination);
  store(a.data() + 16, r.tag);
  return a;
}
/// Takes the routing from the front of a body. Returns nothing if the body is too short.
[[nodiscard]] inline std::optional<routing> take_routing(bytes& body) noexcept {
  if (body.size() < routing_size) return std::nullopt;
  const routing r{load<std::uint64_t>(body), load<std::uint64_t>(body.substr(8)), load<std::uint64_t>(body.substr(16))};
  body.remove_prefix(routing_size);
  return r;
}

/// A frame that is no message.
struct control_frame {
  std::array<char, prefix_size + header_size + hello_size> storage{};
  std::size_t size = 0;
  [[nodiscard]] bytes data() const noexcept { return {storage.data(), size}; }
};
[[nodiscard]] inline control_frame encode(const hello& h) noexcept {
  control_frame f;
  char* const body = f.storage.data() + prefix_size + header_size;
  store(body, hello::current_version);
  body[4] = static_cast<char>(h.route);
  body[5] = static_cast<char>(h.is_pinned);
  store(body + 8, h.id);
  store(body + 16, h.target);
  store(body + 24, h.epoch);
  store(body + 32, h.known_epoch);
  store(body + 40, h.received);
  store(body + 48, h.max_message);
  seal(f.storage.data(), {frame_type::hello}, hello_size);
  f.size = prefix_size + header_size + hello_size;
  return f;
}

/// A frame of the types whose body is one number.
[[nodiscard]] inline control_frame encode(frame_type type, std::uint64_t number, std::uint8_t flags = 0) noexcept {
  control_frame f;
  store(f.storage.data() + prefix_size + header_size, number);
  seal(f.storage.data(), {type, flags}, sizeof number);
  f.size = prefix_size + header_size + sizeof number;
  return f;
}

/// Return nothing if the body is malformed. A hello's id and epoch are not 0.
[[nodiscard]] inline std::optional<hello> decode_hello(bytes body) noexcept {
  if (body.size() != hello_size || load<std::uint32_t>(body) != hello::current_version) return std::nullopt;
  const auto route = static_cast<unsigned char>(body[4]);
  if (route > static_cast<unsigned char>(bus_route::tcp)) return std::nullopt;
  const hello h{load<std::uint64_t>(body.substr(8)),  load<std::uint64_t>(body.substr(16)),
                load<std::uint64_t>(body.substr(24)), load<std::uint64_t>(body.substr(32)),
                load<std::uint64_t>(body.substr(40)), load<std::uint32_t>(body.substr(48)),
                static_cast<bus_route>(route),        body[5] != 0};
  return h.id != 0 && h.epoch != 0 ? std::optional(h) : std::nullopt;
}

[[nodiscard]] inline std::optional<std::uint64_t> decode_number(bytes body) noexcept {
  if (body.size() != sizeof(std::uint64_t)) return std::nullopt;
  return load<std::uint64_t>(body);
}

}  // namespace quintet::bus
