// SPDX-License-Identifier: BSL-1.0
// draining_filter_test: a drain waits for whole records, and not for the rest of one.
#include "../../net/tests/support/toy_filter.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

struct journal {
  gate block;
  std::mutex mutex;
  std::vector<error_code> closed;
};

struct waits_and_echoes {
  journal* of;
  void operator()(connection& c, bytes in) const {
    (void)of->block.wait();
    c.write(in);
  }
  void on_close(connection&, error_code why) const {
    const std::lock_guard lock(of->mutex);
    of->closed.push_back(why);
  }
};

// The part has arrived, and is unread, when the drain begins: where the handler runs on its loop, that is held up.
void check_half_record(model kind) {
  journal seen;
  running<server> srv(config{.listen = {{"127.0.0.1:0", {.carry = testing::carry_toy_filter}}}, .model = kind},
                      waits_and_echoes{&seen});
  testing::toy_filter records(testing::next_seed());
  client raw(srv->port());
  raw.send(records.encrypted("w"));
  BOOST_TEST(seen.block.await_waiting(1));
  raw.send(records.encrypted("x").substr(0, 2));
  srv->drain(patience);
  seen.block.open();
  std::string plain(100, '\0');
  const filter::result got = records.decrypt(raw.receive_rest(), plain);
  BOOST_TEST(plain.substr(0, got.produced) == "w");
  BOOST_TEST(got.ended);
  srv.join();
  BOOST_REQUIRE(seen.closed.size() == 1U);
  BOOST_TEST((seen.closed[0] != errc::stopped));
}

}  // namespace

BOOST_DATA_TEST_CASE(half_a_record_holds_no_drain_up, data::make(all_models), kind) { check_half_record(kind); }

}  // namespace quintet::test
