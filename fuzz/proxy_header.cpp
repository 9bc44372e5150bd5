// SPDX-License-Identifier: BSL-1.0
// proxy_header: a PROXY header gives the same result whatever follows it, and survives a round trip.
#include "fuzz.hpp"

#include "proxy/proxy_protocol.hpp"

#include <string>

namespace {

using namespace quintet;
using namespace example::proxy;
using fuzz::require;
using outcome = header_reading::outcome;

bool same_ends(const header_reading& a, const header_reading& b) {
  if (a.ends.has_value() != b.ends.has_value()) return false;
  return !a.ends || (a.ends->peer == b.ends->peer && a.ends->local == b.ends->local);
}
bool same(const header_reading& a, const header_reading& b) {
  return a.result == b.result && a.used == b.used && same_ends(a, b);
}

void check_written(proxy_version version, const header_reading& read) {
  const std::string header = make_header(version, *read.ends);
  const header_reading again = read_header(header);
  require(again.result == outcome::whole && again.used == header.size(), "a header that is written can be read");
  const bool of_one_family = read.ends->peer.is_ip() && read.ends->peer.type() == read.ends->local.type();
  require(of_one_family ? same_ends(again, read) : !again.ends, "addresses survive being written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bytes in = fuzz::input(data, size).rest();
  const header_reading read = read_header(in);
  const std::size_t used = read.result == outcome::whole ? read.used : in.size();
  require(used <= in.size(), "a header is a part of the input");
  require(used <= std::max(longest_v1, 16 + longest_payload) || read.result == outcome::malformed, "headers are short");
  header_reading before;  // the first result that is not `incomplete`
  for (std::size_t n = 1; n <= in.size() && before.result == outcome::incomplete; ++n)
    before = read_header(in.substr(0, n));
  require(same(before, read), "cuts change nothing");
  if (!read.ends) return 0;
  check_written(proxy_version::v1, read);
  check_written(proxy_version::v2, read);
  return 0;
}
