// SPDX-License-Identifier: BSL-1.0
// asio_tls_test: Asio's TLS on accepted connections, in every model, with clients of OpenSSL.
// ctest: OPTIONAL_LIBS quintet::tls OpenSSL::SSL
#include "../../net/tests/support/certificates.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "tls/tls_client.hpp"

#include <quintet/net/asio_stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test {
namespace {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using asio::use_awaitable;

struct tls_echo {
  asio::ssl::context* context;
  asio::awaitable<void> operator()(asio_stream s) const {
    asio::ssl::stream<asio_stream> tls(std::move(s), *context);
    co_await tls.async_handshake(asio::ssl::stream_base::server, use_awaitable);
    std::array<char, 10'000> data;
    for (;;) {
      const auto [why, count] = co_await tls.async_read_some(asio::buffer(data), asio::as_tuple(use_awaitable));
      if (why) break;
      co_await asio::async_write(tls, asio::buffer(data, count), use_awaitable);
    }
    (void)co_await tls.async_shutdown(asio::as_tuple(use_awaitable));
  }
};

BOOST_DATA_TEST_CASE(asios_tls_echoes, data::make(all_models), kind) {
  const testing::certificate own;
  const std::string chain = own.pem(), key = own.key_pem();
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.use_certificate_chain(asio::buffer(chain));
  context.use_private_key(asio::buffer(key), asio::ssl::context::pem);
  running<server> srv(config{.model = kind, .threads = {.loops = 2}}, tls_echo{&context});
  std::vector<client> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(over_tls(client(srv->port())));
  for (int i = 0; i < 20; ++i)
    for (client& c : clients) {
      c.send("secret");
      BOOST_REQUIRE(c.receive(6) == "secret");
    }
  const std::string large(1'000'000, 'z');
  std::thread sender([&] { clients[0].send(large); });
  BOOST_TEST((clients[0].receive(large.size()) == large));
  sender.join();
  for (client& c : clients) {
    c.finish_sending();
    BOOST_TEST(c.receive_rest().empty());
    BOOST_TEST((c.ended() == ending::orderly));
  }
  srv.stop();
  srv.join();
  BOOST_TEST(srv->statistics().handler_errors == 0u);
}

}  // namespace
}  // namespace quintet::test
