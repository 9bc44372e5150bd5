// SPDX-License-Identifier: BSL-1.0
// frames: encodes and decodes the frames that are not messages.
#include "frames.hpp"

namespace quintet::bus {

control_frame encode(const hello& h) noexcept {
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

control_frame encode(frame_type type, std::uint64_t number, std::uint8_t flags) noexcept {
  control_frame f;
  store(f.storage.data() + prefix_size + header_size, number);
  seal(f.storage.data(), {type, flags}, sizeof number);
  f.size = prefix_size + header_size + sizeof number;
  return f;
}

std::optional<hello> decode_hello(bytes body) noexcept {
  if (body.size() != hello_size || load<std::uint32_t>(body) != hello::current_version) return std::nullopt;
  const auto route = static_cast<unsigned char>(body[4]);
  if (route > static_cast<unsigned char>(bus_route::tcp)) return std::nullopt;
  const hello h{load<std::uint64_t>(body.substr(8)),  load<std::uint64_t>(body.substr(16)),
                load<std::uint64_t>(body.substr(24)), load<std::uint64_t>(body.substr(32)),
                load<std::uint64_t>(body.substr(40)), load<std::uint32_t>(body.substr(48)),
                static_cast<bus_route>(route),        body[5] != 0};
  return h.id != 0 && h.epoch != 0 ? std::optional(h) : std::nullopt;
}

std::optional<std::uint64_t> decode_number(bytes body) noexcept {
  if (body.size() != sizeof(std::uint64_t)) return std::nullopt;
  return load<std::uint64_t>(body);
}

}  // namespace quintet::bus
