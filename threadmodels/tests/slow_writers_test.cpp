// SPDX-License-Identifier: BSL-1.0
// slow_writers_test: handlers that block in on_writable occupy workers, but do not delay the output of others.
// ctest: EACH_ENGINE
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;

constexpr std::size_t reply = 1024 * 1024, piece = 16 * 1024;

/// Answers a byte with 1 MiB of it, in pieces. After an 's' it waits in on_writable.
struct download {
  gate* block;
  char letter = 0;
  std::size_t left = 0;

  void operator()(connection& c, bytes in) {
    letter = in.front();
    left = reply;
    write_on(c);
  }
  void on_writable(connection& c) {
    if (letter == 's') (void)block->wait();
    write_on(c);
  }
  void write_on(connection& c) {
    for (; left > 0 && c.writable(); left -= piece) c.write(std::string(piece, letter));
  }
};

BOOST_DATA_TEST_CASE(others_write_on_while_some_take_long, bdata::make(pooled_models), kind) {
  constexpr std::size_t slow = 6;
  gate block;
  running<server> srv(config{.model = kind, .threads = {.loops = 1, .workers = {.min = slow + 2, .max = slow + 2}}},
                      download{&block});
  std::vector<client> slow_ones;
  for (std::size_t i = 0; i < slow; ++i) {
    slow_ones.emplace_back(srv->port());
    BOOST_TEST(slow_ones.back().send("s"));
  }
  BOOST_TEST(block.await_waiting(slow));
  for (int i = 0; i < 3; ++i) {
    client fast(srv->port());
    BOOST_TEST(fast.send("f"));
    BOOST_TEST((fast.receive(reply) == std::string(reply, 'f')));
  }
  BOOST_TEST(block.waiting() == slow);
  block.open();
  for (client& c : slow_ones) BOOST_TEST((c.receive(reply) == std::string(reply, 's')));
}

}  // namespace
}  // namespace quintet::test
