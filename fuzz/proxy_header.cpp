// SPDX-License-Identifier: BSL-1.0
// proxy_header: a PROXY header gives the same result whatever follows it, and survives a round trip.
#include "fuzz.hpp"

#include <quintet/base/framing/proxy_protocol.hpp>

#include <algorithm>
#include <string>

namespace {

using namespace quintet;
using fuzz::require;
using state = proxy_header::state;

bool same_ends(const proxy_header& a, const proxy_header& b) { return a.peer == b.peer && a.local == b.local; }
bool same(const proxy_header& a, const proxy_header& b) { return a.is == b.is && a.size == b.size && same_ends(a, b); }

void check_written(proxy_version version, const proxy_header& read) {
  const std::string header = make_proxy_header(version, read.peer, read.local);
  const proxy_header again = read_proxy_header(header);
  require(again.is == state::complete && again.size == header.size(), "a header that is written can be read");
  require(same_ends(again, read), "addresses survive being written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bytes in = fuzz::input(data, size).rest();
  const proxy_header read = read_proxy_header(in);
  const std::size_t used = read.is == state::complete ? read.size : in.size();
  require(used <= in.size(), "a header is a part of the input");
  require(used <= std::max(longest_v1, default_max_proxy_header) || read.is == state::malformed, "headers are short");
  require(read.peer.size == read.local.size, "both ends are of one family");
  proxy_header before;  // the first result that is not `incomplete`
  for (std::size_t n = 1; n <= in.size() && before.is == state::incomplete; ++n)
    before = read_proxy_header(in.substr(0, n));
  require(same(before, read), "cuts change nothing");
  if (read.peer.size == 0) return 0;
  check_written(proxy_version::v1, read);
  check_written(proxy_version::v2, read);
  return 0;
}
