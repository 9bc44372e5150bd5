// SPDX-License-Identifier: BSL-1.0
// resolver: getaddrinfo through Asio.
#include "resolver.hpp"

#include "../loop/executor.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <new>
#include <utility>

namespace quintet {

struct resolver::state {
  using asio_resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, loop_executor>;
  state(event_loop& loop, done_function f) : asked(loop.get_executor()), done(std::move(f)) {}
  asio_resolver asked;
  done_function done;  // empty: cancelled or called
};

resolver::resolver(event_loop& loop, const std::string& host, const std::string& port, done_function done)
    : state_(std::make_shared<state>(loop, std::move(done))) {
  const auto answered = [s = state_](error_code failed, const state::asio_resolver::results_type& results) {
    const done_function tell = std::exchange(s->done, nullptr);
    if (!tell) return;
    std::vector<address> found;
    error_code result = failed;
    try {
      for (const auto& entry : results) {
        const auto at = entry.endpoint();
        found.emplace_back(at.data(), static_cast<socklen_t>(at.size()));
      }
    } catch (const std::bad_alloc&) {
      result = make_error_code(boost::system::errc::not_enough_memory);
    }
    tell(result, std::move(found));
  };
  state_->asked.async_resolve(host, port, answered);
}

resolver::~resolver() {
  state_->done = nullptr;
  state_->asked.cancel();
}

}  // namespace quintet
