// SPDX-License-Identifier: BSL-1.0
// shared_memory: a test's client over the library's blocking client.
#include "shared_memory.hpp"

#include "waiting.hpp"

#include <quintet/net/shared_memory_client.hpp>

#include <memory>
#include <stdexcept>
#include <string_view>

namespace quintet::test {
namespace {

class memory_stream final : public client::stream {
 public:
  explicit memory_stream(const std::string& at) : memory_(at, {.timeout = patience}) {}

  bool send(std::string_view data) override { return memory_.send(data); }
  ending receive_to(std::string& buffer) override {
    if (memory_.wait(patience)) {
      const bytes next = memory_.peek();
      buffer.append(next);
      memory_.release(next.size());
      return ending::none;
    }
    if (!memory_.has_ended()) throw std::runtime_error("client: the server sends nothing");
    return memory_.end_reason() ? ending::reset : ending::orderly;
  }
  void finish_sending() override { memory_.finish_sending(); }
  void reset_when_closed() override { memory_.reset_when_closed(); }

 private:
  shared_memory_client memory_;
};

}  // namespace

client client_over_shared_memory(const std::string& at) { return client(std::make_unique<memory_stream>(at)); }

}  // namespace quintet::test
