// SPDX-License-Identifier: BSL-1.0
// copies_test: the library copies each byte of an echo at most twice: into the connection's input if another thread
// needs it or its message is incomplete, and into its output.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"

#include <quintet/base/memory/byte_buffer.hpp>
#include <quintet/net/connection/connection_input.hpp>
#include <quintet/net/engine/engine.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

// ctest: NEEDS QUINTET_COUNT_COPIES

namespace quintet::test {
namespace {

static_assert(counts_copies, "without the counter each figure would be 0, and each bound kept");

using wire_format = length_prefix<4>;

void echo_message(connection& c, bytes message) {
  if (const error_code ec = write_message(c, wire_format(1U << 20U), message)) c.close(ec);
}

awaitable<> echo_messages(stream& s) {
  wire_format wire(1U << 20U);
  while (const auto message = co_await s.read_message(wire))
    if (write_message(s, wire, *message)) break;
}

std::string framed_as(std::size_t size) {
  message_buffer m(std::string(size, 'x'));
  BOOST_REQUIRE(!wire_format(1U << 20U).wrap(m));
  return std::string(m.data());
}

/// Returns how often each byte of the echoed stream was copied, on average. Fails if none was counted: an echo copies.
double copies(client& c, const std::string& stream, int rounds) {
  const std::uint64_t before = copied_bytes();
  for (int i = 0; i < rounds; ++i) {
    std::thread sending([&] { c.send(stream); });
    BOOST_REQUIRE(c.receive(stream.size()).size() == stream.size());
    sending.join();
  }
  BOOST_TEST(copied_bytes() > before);
  return static_cast<double>(copied_bytes() - before) / static_cast<double>(stream.size()) / rounds;
}

/// Returns the largest share of a stream of `size` bytes that the library copies a third time: what had arrived when
/// the handler required the whole message moves once more, into room for all of it. That is one batch, and, if the
/// handler ran in the pool, the input that arrived meanwhile.
double moved_again(model kind, std::size_t size) {
  const bool pooled = kind == model::reactor_pool || kind == model::loop_per_thread_pool;
  const std::size_t batch = engine::receive_size;
  const std::size_t most = pooled ? batch + detail::connection_input::waiting_limit + batch : batch;
  return static_cast<double>(most) / static_cast<double>(size);
}

template <class Handler>
void check(model kind, engine_kind io, Handler handler) {
  running<server> srv(config{.model = kind, .threads = {.loops = 2, .workers = {2, 2}}, .engine = io}, handler);
  client c(srv->port());
  std::string many;
  for (int i = 0; i < 1000; ++i) many += framed_as(20);
  BOOST_TEST(copies(c, framed_as(8), 200) <= 2.0);
  BOOST_TEST(copies(c, many, 5) <= 2.0);
  constexpr std::size_t large = 1'000'000;
  BOOST_TEST(copies(c, framed_as(large), 5) <= 2.0 + moved_again(kind, large));
}

}  // namespace

// io_uring copies output once more, into registered memory.
BOOST_DATA_TEST_CASE(each_byte_is_copied_at_most_twice, boost::unit_test::data::make(all_combinations), under) {
  for (const engine_kind io : {engine_kind::epoll, engine_kind::asio}) {
    BOOST_TEST_CONTEXT(to_string(io)) {
      if (under.is_coroutine())
        check(under.kind, io, echo_messages);
      else
        check(under.kind, io, framed(wire_format(1U << 20U), echo_message));
    }
  }
}

BOOST_AUTO_TEST_CASE(shared_bytes_are_not_copied) {
  const auto page = std::make_shared<const std::string>(100'000, 'x');
  const auto reply = [page](connection& c, bytes) { c.write(page); };
  running<server> srv(config{.model = model::single_reactor}, reply);
  client c(srv->port());
  const std::uint64_t before = copied_bytes();
  c.send("?");
  BOOST_TEST(c.receive(page->size()).size() == page->size());
  BOOST_TEST(copied_bytes() - before <= 100U);
}

}  // namespace quintet::test
