// SPDX-License-Identifier: BSL-1.0
// shared_memory_moving_test: connections over shared memory migrate between loops, and meet the limits of output.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "combination.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/shared_memory_client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <array>
#include <filesystem>
#include <future>
#include <iterator>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

config over_shared_memory(model kind, const std::string& at) {
  return {.listen = {{at, {.upgrade = connection_upgrade::shared_memory}}},
          .model = kind,
          .threads = {.loops = 3, .workers = {2, 2}, .offload = {.policy = offload_policy::always}}};
}

/// Moves to the next loop after each batch.
struct roaming {
  const std::vector<event_loop*>* loops;
  std::size_t next = 0;
  void operator()(connection& c, bytes in) {
    c.write(in);
    if (!loops->empty()) (void)c.move_to(*loops->at(next++ % loops->size()));
  }
};

void round_trip(shared_memory_client& c, const std::string& text) {
  std::string back;
  c.send(text);
  while (back.size() < text.size() && c.wait()) {
    const bytes next = c.peek();
    back += next;
    c.release(next.size());
  }
  BOOST_TEST(back == text);
}

constexpr std::array looping_models{model::loop_per_thread, model::loop_per_thread_pool};

BOOST_DATA_TEST_CASE(nothing_is_lost_while_connections_migrate, data::make(looping_models), kind) {
  const std::string at = fresh_unix_address();
  std::vector<event_loop*> loops;
  running<server> srv(over_shared_memory(kind, at), roaming{&loops});
  const bool moves = can_detach_connections(*srv->loops().front());  // not from an io_uring
  loops = srv->loops();
  shared_memory_client a(at), b(at);
  for (int i = 0; i < 300; ++i) {
    round_trip(a, "a " + std::to_string(i) + std::string(static_cast<std::size_t>(i) * 50, 'a'));
    round_trip(b, "b " + std::to_string(i));
  }
  BOOST_TEST((srv->statistics().moved_here > 100U) == moves);
}

// The server keeps the socket of a connection that it has closed, until the client has closed its end.
struct closing {
  void operator()(connection& c, bytes in) const {
    c.write(in);
    c.close();
  }
};

BOOST_DATA_TEST_CASE(connections_that_share_a_file_use_its_places_again, data::make(all_models), kind) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const std::string at = fresh_unix_address();
  config c = over_shared_memory(kind, at);
  c.listen[0].shared_memory.connections_per_file = 4;
  running<server> srv(c, closing());
  const auto one_connection = [&] {
    shared_memory_client one(at);
    round_trip(one, "x");
    while (one.wait()) one.release(one.peek().size());
    BOOST_TEST(!one.end_reason());
  };
  one_connection();
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1U; }));
  const auto before = descriptors();
  for (unsigned i = 2; i <= 30; ++i) {
    one_connection();
    BOOST_TEST(eventually([&] { return srv->statistics().closed == i; }));
  }
  BOOST_TEST(mapped_segments() == 1);
  BOOST_TEST(eventually([&] { return descriptors() <= before + 2; }));
}

struct talking {
  std::promise<error_code>* ended;
  void operator()(connection& c, bytes) const {
    while (c.write(std::string(1000, 't'))) {
    }
  }
  void on_close(connection&, error_code why) const { ended->set_value(why); }
};

BOOST_DATA_TEST_CASE(a_client_that_does_not_read_meets_max_output, data::make(all_models), kind) {
  const std::string at = fresh_unix_address();
  std::promise<error_code> ended;
  config c = over_shared_memory(kind, at);
  c.limits = {.max_output = 500'000, .high_watermark = 400'000, .low_watermark = 100'000};
  running<server> srv(c, talking{&ended});
  shared_memory_client client(at);
  client.send("?");
  BOOST_TEST(ended.get_future().get() == make_error_code(errc::output_overflow));
  while (client.wait()) client.release(client.peek().size());
  BOOST_TEST(client.end_reason() == boost::system::errc::connection_reset);
}

}  // namespace
}  // namespace quintet::test
