// SPDX-License-Identifier: BSL-1.0
// checked: a codec whose messages carry a checksum.
#pragma once

#include "../encoding/checksum.hpp"
#include "../encoding/integers.hpp"
#include "frame.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace quintet {

/// `checked(length_prefix<4>())`: the inner frame holds the lower `Width` bytes of the checksum, the highest first, and
/// then the message. Limits of the inner codec still apply to the message alone. A wrong checksum is
/// errc::bad_checksum.
template <transparent_codec Codec, std::size_t Width = 4>
  requires(Width == 4 || Width == 8)
class checked {
 public:
  explicit constexpr checked(const Codec& inner) : inner_(inner.widened(Width)) {}

  [[nodiscard]] constexpr std::size_t max_size() const noexcept
    requires requires(const Codec& c) { c.max_size(); }
  {
    return inner_.max_size() - Width;
  }
  [[nodiscard]] constexpr checked widened(std::size_t by) const {
    return checked(inner_.widened(by), already_widened());
  }

  [[nodiscard]] frame parse(bytes in) {
    frame f = inner_.parse(in);
    if (f.is != frame::state::complete) return f;
    if (f.message.size() < Width) return frame::failed(errc::malformed_message);
    const std::uint64_t announced = decode_number<Width, std::endian::big>(f.message);
    f.message.remove_prefix(Width);
    if (announced != lower(checksum(f.message))) return frame::failed(errc::bad_checksum);
    return f;
  }
  template <class Message>
  [[nodiscard]] error_code wrap(Message& m) const {
    if constexpr (requires { max_size(); })
      if (m.size() > max_size()) return errc::message_too_big;  // before it is hashed
    const auto sum = encode_number<Width, std::endian::big>(checksum(m.header(), m.payload()));
    m.prepend({sum.data(), sum.size()});
    return inner_.wrap(m);
  }

 private:
  using widened_codec = decltype(std::declval<const Codec&>().widened(Width));
  struct already_widened {};
  constexpr checked(const widened_codec& inner, already_widened) : inner_(inner) {}
  static constexpr std::uint64_t lower(std::uint64_t sum) noexcept { return sum & largest_number(Width); }

  widened_codec inner_;
};

}  // namespace quintet
