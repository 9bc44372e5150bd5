// SPDX-License-Identifier: BSL-1.0
// tls_filter: gives OpenSSL one whole record at a time, so that it keeps no part of one.
#include "tls_filter.hpp"

#include "records.hpp"

#include <algorithm>

namespace quintet {

using link_state = tls::tls_link::state;

filter::result tls_filter::decrypt(bytes in, std::span<char> out) noexcept {
  result r;
  while (r.produced < out.size()) {
    bytes record;  // none: plain bytes of the last one are left
    if (!link_.has_plain()) {
      const bytes left = in.substr(r.consumed);
      if (tls::is_too_long(left)) r.failed = errc::tls_bad_record;
      record = left.substr(0, tls::size_of_first(left));
      if (r.failed || record.empty()) return r;
    }
    const auto read = link_.read(record, out.subspan(r.produced));
    r.consumed += read.consumed;
    r.produced += read.produced;
    received_ += read.produced;
    r.ended = read.is == link_state::ended;
    r.failed = read.failed;
    if (!r.ended && !r.failed && read.produced == 0 && ++empty_ > most_empty + received_ / plain_for_another)
      r.failed = errc::tls_flood;
    if (r.ended || r.failed) return r;
  }
  return r;
}

filter::result tls_filter::encrypt(bytes in, std::span<char> out) noexcept {
  result r{.produced = link_.take_late(out)};
  while (r.consumed < in.size() && out.size() - r.produced > tls::most_overhead) {
    const std::size_t most = std::min(tls::longest_plain, out.size() - r.produced - tls::most_overhead);
    const auto written = link_.write(in.substr(r.consumed, most), out.subspan(r.produced));
    r.consumed += written.consumed;
    r.produced += written.produced;
    r.failed = written.failed;
    if (r.failed) return r;
  }
  return r;
}

filter::result tls_filter::finish(std::span<char> out) noexcept {
  result r{.produced = link_.take_late(out)};
  r.produced += link_.shut_down(out.subspan(r.produced)).produced;
  return r;
}

}  // namespace quintet
