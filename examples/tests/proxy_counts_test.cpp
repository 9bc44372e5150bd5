// SPDX-License-Identifier: BSL-1.0
// proxy_counts_test: in each model, the proxy counts the bytes that have left for the other side, and no others.
// ctest: TIMEOUT 300 EACH_ENGINE
#include "model_names.hpp"
#include "peers.hpp"

#include "proxy/ends.hpp"

#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <utility>

namespace example::test {
namespace {

namespace bdata = boost::unit_test::data;

constexpr std::size_t kib = 1024, mib = 1024 * kib;

struct counted {
  std::uint64_t to_upstreams, to_clients;
  std::uint64_t sent;  // what the kernel has taken of all connections
};

/// Runs a function when it goes.
template <class F>
struct at_the_end {
  explicit at_the_end(F f) : function(std::move(f)) {}
  ~at_the_end() { function(); }
  at_the_end(const at_the_end&) = delete;
  at_the_end& operator=(const at_the_end&) = delete;
  F function;
};

/// Runs a proxy in this process while use(client, upstream) has both peers of a relay, and returns its counters.
template <class Use>
counted relay_between(quintet::model m, std::size_t window, Use use) {
  listening behind;
  proxy::service all;
  all.options.upstreams.emplace_back("127.0.0.1:" + std::to_string(behind.port()));
  all.options.window = window;
  const quintet::connection_limits unlimited{.max_output = 256 * mib, .high_watermark = 256 * mib};
  const quintet::config config{.listen = {"127.0.0.1:0"}, .model = m, .limits = unlimited};
  quintet::server server(config, quintet::handler_factory([&all] { return proxy::client_end(all, {}); }));
  all.main = &server.main_loop();
  all.attach = [&server](quintet::event_loop* near, quintet::stream_handle s, proxy::upstream_end end, auto refused) {
    server.attach(near, std::move(s), std::move(end), std::move(refused));
  };
  std::thread running([&server] { server.run(); });
  {
    const at_the_end stop([&] {
      server.stop();
      running.join();
    });
    peer client = peer::connected_to(server.port());
    peer upstream = behind.accept();
    use(client, upstream);
  }
  return {all.counts.to_upstreams, all.counts.to_clients, server.statistics().bytes_sent};
}

/// Closes the connection: as a reset, if bytes have arrived that were not received.
void close(peer& p) { const peer closes = std::move(p); }

// The sender's bytes fill the kernel's buffers on the way to a peer that never reads, and the proxy's window. Only the
// former have left.
BOOST_DATA_TEST_CASE(bytes_that_a_broken_relay_has_not_sent_do_not_count,
                     bdata::make(quintet::all_models) * bdata::make({false, true}), m, upstream_breaks) {
  const counted n = relay_between(m, 64 * mib, [&](peer& client, peer& upstream) {
    peer& sends = upstream_breaks ? client : upstream;
    peer& breaks = upstream_breaks ? upstream : client;
    BOOST_TEST(sends.send(std::string(32 * mib, 'x')));
    close(breaks);
    (void)sends.receive_rest();  // returns when the proxy has closed this side too
  });
  BOOST_TEST(n.to_upstreams + n.to_clients <= n.sent);
  BOOST_TEST(n.sent < 32 * mib);
}

BOOST_DATA_TEST_CASE(all_bytes_of_a_whole_relay_count, bdata::make(quintet::all_models), m) {
  constexpr std::size_t question = 300 * kib + 1, answer = 700 * kib + 1;  // more than whole halves of a window
  const counted n = relay_between(m, 256 * kib, [&](peer& client, peer& upstream) {
    BOOST_TEST(client.send(std::string(question, 'q')));
    client.finish_sending();
    BOOST_TEST(upstream.receive_rest().size() == question);
    auto answering = std::async(std::launch::async, [&] {
      upstream.send(std::string(answer, 'a'));
      upstream.finish_sending();
    });
    BOOST_TEST(client.receive_rest().size() == answer);
  });
  BOOST_TEST(n.to_upstreams == question);
  BOOST_TEST(n.to_clients == answer);
}

BOOST_DATA_TEST_CASE(bytes_that_have_left_before_the_sender_broke_count, bdata::make(quintet::all_models), m) {
  constexpr std::size_t question = 100 * kib;
  const counted n = relay_between(m, 256 * kib, [&](peer& client, peer& upstream) {
    BOOST_TEST(client.send(std::string(question, 'q')));
    BOOST_TEST(upstream.receive(question).size() == question);
    BOOST_TEST(upstream.send("answer"));
    BOOST_TEST(client.receive(1) == "a");
    close(client);  // a reset, because of the answer's rest
    BOOST_TEST(upstream.receive_rest().empty());
  });
  BOOST_TEST(n.to_upstreams == question);
}

}  // namespace
}  // namespace example::test
