// SPDX-License-Identifier: BSL-1.0
// http_request: a stream of HTTP requests gives the same requests and the same refusal in one piece and in many.
#include "fuzz.hpp"

#include "http_hello/request_reader.hpp"

#include <optional>
#include <string>

namespace {

using namespace quintet;
using fuzz::require;
using http_hello::request_reader;
using progress = request_reader::progress;

struct request {
  bool get = false, head = false, old = false, keep = false;
  std::size_t end = 0;  // offset in the stream
  bool operator==(const request&) const = default;
};
struct reading {
  std::vector<request> requests;
  int status = 0;
};

/// Compares two results. A header that is too long and has another mistake may be refused for either reason.
bool agree(const reading& a, const reading& b) {
  const auto is_limit = [](int status) { return status == 414 || status == 431; };
  return a.requests == b.requests && (a.status != 0) == (b.status != 0) &&
         (a.status == b.status || is_limit(a.status) || is_limit(b.status));
}

class client {
 public:
  explicit client(const http_hello::limits& l) : limits_(l), reader_(std::in_place, l) {}

  void send(bytes more) {
    unused_.append(more);
    unused_.erase(0, read(unused_));
  }
  std::size_t read(bytes in) {
    std::size_t used = 0;
    while (got_.status == 0 && used < in.size()) {
      std::size_t now = 0;
      const progress p = reader_->read(in.substr(used), now);
      require(now <= in.size() - used, "a reader takes a part of the input");
      used += now;
      end_ += now;
      if (p == progress::incomplete) break;
      if (p == progress::refused) {
        got_.status = reader_->status();
        require(got_.status >= 400 && got_.status < 600, "a refusal has a status");
      } else {
        require(now > 0, "a request takes a part of the input");
        const request_reader& r = *reader_;
        got_.requests.push_back({r.is_get(), r.is_head(), r.is_http_1_0(), r.keep_alive(), end_});
        reader_.emplace(limits_);
      }
    }
    return used;
  }
  [[nodiscard]] const reading& got() const { return got_; }

 private:
  http_hello::limits limits_;
  std::optional<request_reader> reader_;
  std::string unused_;
  std::size_t end_ = 0;
  reading got_;
};

}  // namespace

// The first byte chooses limits, the second byte is the plan of the cuts. The stream always ends with an empty line:
// depending on the cuts, Beast finds a mistake in a field at once or only at the end of all fields.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::uint8_t choice = in.byte(), plan = in.byte();
  http_hello::limits limits;
  if (choice % 2 != 0) limits = {.header = 100, .body = 10};
  const std::string stream = std::string(in.rest()) + "\r\n\r\n";
  client at_once(limits);
  at_once.read(stream);
  fuzz::for_each_cut(stream, plan, [&](const std::vector<bytes>& pieces) {
    client slow(limits);
    for (const bytes& piece : pieces) slow.send(piece);
    require(agree(slow.got(), at_once.got()), "cuts change nothing");
  });
  return 0;
}
