// SPDX-License-Identifier: BSL-1.0
// filtered: two toy_filters, because one thread may send while another one receives.
#include "filtered.hpp"

#include "../../../net/tests/support/toy_filter.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace quintet::test {
namespace {

class filtered_stream final : public client::stream {
 public:
  explicit filtered_stream(client raw) : raw_(std::move(raw)) {}
  ~filtered_stream() override {
    try {
      if (!finished_) raw_.send(out_.finished());
    } catch (const std::runtime_error&) {  // the server reads nothing
    }
  }

  bool send(std::string_view data) override { return raw_.send(out_.encrypted(data)); }
  ending receive_to(std::string& buffer) override {
    while (!ended_) {
      std::string plain(64 * 1024, '\0');
      const filter::result r = in_.decrypt(records_, plain);
      records_.erase(0, r.consumed);
      if (r.failed) throw std::runtime_error("client: the server has sent a malformed record");
      buffer.append(plain, 0, r.produced);
      ended_ = r.ended;
      if (r.produced > 0) return ending::none;
      if (ended_) break;
      const std::string more = raw_.receive_some();
      if (more.empty()) return ending::reset;
      records_ += more;
    }
    return ending::orderly;
  }
  void finish_sending() override {
    finished_ = true;
    raw_.send(out_.finished());
    raw_.finish_sending();
  }
  void reset_when_closed() override {
    finished_ = true;
    raw_.reset();
  }

 private:
  client raw_;
  testing::toy_filter in_{testing::next_seed()}, out_{testing::next_seed()};
  std::string records_;    // received
  bool finished_ = false;  // sending
  bool ended_ = false;     // the last record has come
};

}  // namespace

client filtered(client raw) { return client(std::make_unique<filtered_stream>(std::move(raw))); }

}  // namespace quintet::test
