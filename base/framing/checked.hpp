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
/// then the message. Limits of the inner codec still apply to the message alone.
///
/// A wrong checksum is errc::bad_checksum. `max_checksum_errors`: the number of wrong messages after which the
/// connection closes; earlier ones are dropped, and counted in loop_figures::checksum_errors. A dropped request gets no
/// reply, so a higher limit than 1 is for streams of updates. Within chunked() the first one closes.
template <transparent_codec Codec, std::size_t Width = 4>
  requires(Width == 4 || Width == 8)
class checked {
 public:
  /// Throws config_error if `max_checksum_errors` is 0.
  explicit constexpr checked(const Codec& inner, unsigned max_checksum_errors = 1)
      : inner_(inner.widened(Width)), errors_{max_checksum_errors} {
    if (max_checksum_errors == 0) throw config_error("checked: max_checksum_errors is 0; it must be at least 1");
  }

  /// Returns the largest message, if the inner codec tells its own.
  [[nodiscard]] constexpr std::size_t max_size() const noexcept
    requires requires(const Codec& c) { c.max_size(); }
  {
    return inner_.max_size() - Width;
  }
  [[nodiscard]] constexpr checked widened(std::size_t by) const { return checked(inner_.widened(by), errors_); }

  [[nodiscard]] frame parse(bytes in) {
    frame f = inner_.parse(in);
    if (f.is != frame::state::complete) return f;
    if (f.message.size() < Width) return frame::failed(errc::malformed_message);
    const std::uint64_t announced = decode_number<Width, std::endian::big>(f.message);
    f.message.remove_prefix(Width);
    if (announced == lower(checksum(f.message))) return f;
    if (++errors_.seen >= errors_.most) return frame::failed(errc::bad_checksum);
    return frame::dropped(f.size, errc::bad_checksum);
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
  /// A copy is for another stream and starts at 0. A move keeps the number: its connection migrates to another loop.
  struct error_count {
    explicit constexpr error_count(unsigned limit) noexcept : most(limit) {}
    constexpr error_count(const error_count& other) noexcept : most(other.most) {}
    constexpr error_count(error_count&& other) noexcept = default;
    constexpr error_count& operator=(const error_count& other) noexcept {
      most = other.most;
      seen = 0;
      return *this;
    }
    constexpr error_count& operator=(error_count&& other) noexcept = default;
    ~error_count() = default;
    unsigned most;
    unsigned seen = 0;
  };
  constexpr checked(const widened_codec& inner, const error_count& errors) : inner_(inner), errors_(errors) {}
  static constexpr std::uint64_t lower(std::uint64_t sum) noexcept { return sum & largest_number(Width); }

  widened_codec inner_;
  error_count errors_;
};

}  // namespace quintet
