// SPDX-License-Identifier: BSL-1.0
// resp: requests of the Redis protocol give the same result however the stream is cut, and limits hold.
#include "fuzz.hpp"

#include "kv/resp.hpp"

#include <string>

namespace {

using namespace quintet;
using fuzz::require;
using kv::outcome;

struct reading {
  std::vector<std::vector<std::string>> requests;
  std::string error;
  std::size_t used = 0;
  bool operator==(const reading&) const = default;
};

class client {
 public:
  explicit client(const kv::limits& l) : limits_(l), parser_(l) {}

  void send(bytes more) {
    unused_.append(more);
    unused_.erase(0, parse(unused_));
  }
  std::size_t parse(bytes in) {
    std::size_t used = 0;
    while (got_.error.empty()) {
      const outcome found = parser_.parse(in.substr(used));
      if (found == outcome::incomplete) break;
      if (found == outcome::malformed) {
        got_.error = parser_.error();
        require(!got_.error.empty(), "an error has a text");
        break;
      }
      require(parser_.used() > 0 && parser_.used() <= in.size() - used, "a request takes a part of the input");
      keep();
      used += parser_.used();
    }
    got_.used += used;
    return used;
  }
  [[nodiscard]] const reading& got() const { return got_; }

 private:
  void keep() {
    std::size_t sum = 0;
    std::vector<std::string> arguments;
    for (const bytes& argument : parser_.arguments()) {
      arguments.emplace_back(argument);
      sum += argument.size();
      if (const auto number = kv::to_integer(argument))
        require(std::to_string(*number) == argument, "a number has one spelling");
    }
    require(arguments.size() <= limits_.arguments, "arguments have a limit");
    require(sum <= std::max(limits_.request, kv::limits::line), "a request has a limit");
    got_.requests.push_back(std::move(arguments));
  }

  kv::limits limits_;
  kv::request_parser parser_;
  std::string unused_;
  reading got_;
};

}  // namespace

/// Requires that a stream that begins with a request line of HTTP is recognised before anything of it is carried out.
void check_http(bytes stream, const reading& got) {
  for (const bytes method : {"GET / ", "POST / ", "PUT / ", "OPTIONS * "}) {
    if (!stream.starts_with(method) || !stream.substr(method.size()).starts_with("HTTP/1.1\r\n")) continue;
    if (got.requests.empty()) return require(!got.error.empty(), "a request line is a request, or malformed");
    const std::vector<bytes> first(got.requests[0].begin(), got.requests[0].end());
    require(kv::speaks_http(first), "HTTP is recognised");
  }
}

// The first byte chooses limits, and whether a long word comes first. The second byte is the plan of the cuts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::uint8_t choice = in.byte(), plan = in.byte();
  kv::limits limits;
  if (choice % 2 != 0) limits = {.arguments = 3, .bulk = 10, .request = 20};
  std::string longer;
  if (choice % 16 == 15) longer.assign(kv::limits::line - 8, '1').append(in.rest());
  const bytes stream = longer.empty() ? in.rest() : bytes(longer);

  client at_once(limits);
  at_once.parse(stream);
  check_http(stream, at_once.got());
  const auto check = [&](const std::vector<bytes>& pieces) {
    client slow(limits);
    for (const bytes& piece : pieces) slow.send(piece);
    require(slow.got() == at_once.got(), "cuts change nothing");
  };
  if (longer.empty()) {
    fuzz::for_each_cut(stream, plan, check);
  } else {
    const std::size_t at = std::min<std::size_t>(stream.size(), kv::limits::line - plan % 16U);
    check({stream.substr(0, at), stream.substr(at)});
  }
  return 0;
}
