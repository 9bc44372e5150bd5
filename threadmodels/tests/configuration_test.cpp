// SPDX-License-Identifier: BSL-1.0
// configuration_test: an invalid configuration throws one clear exception; names of models.
// ctest: LIBS quintet_sequences
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/needs.hpp"
#include "../../net/tests/support/world.hpp"
#include "combination.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/system/system_error.hpp>

#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

void ignore(connection&, bytes) {}

/// An invalid configuration, and the parts of its message: the field, the value, what is allowed.
struct wrong {
  std::string name;
  std::function<void(config&)> make;
  std::vector<std::string> says;
  friend std::ostream& operator<<(std::ostream& out, const wrong& w) { return out << w.name; }
};

const std::vector<wrong> wrong_ones{
    {"no loops", [](config& c) { c.threads.loops = 0; }, {"loops", "0", "at least 1"}},
    {"no workers", [](config& c) { c.threads.workers = {0, 0}; }, {"workers.max", "0", "at least 1"}},
    {"min above max", [](config& c) { c.threads.workers = {5, 3}; }, {"workers.min", "5", "at most workers.max, 3"}},
    {"workers that never stay",
     [](config& c) { c.threads.workers.idle_time = 0s; },
     {"workers.idle_time", "0 s", "above 0"}},
    {"workers that spin for long", [](config& c) { c.threads.workers.spin = 1s; }, {"spin", "1 s", "at most"}},
    {"a negative threshold",
     [](config& c) { c.threads.offload.threshold = -1us; },
     {"offload.threshold", "-1 us", "at least 0"}},
    {"no harm at all",
     [](config& c) { c.threads.offload.inline_overrun_ratio = 0; },
     {"offload.inline_overrun_ratio", "above 0"}},
    {"no threads", [](config& c) { c.threads.max_threads = 0; }, {"max_threads", "0", "at least 1"}},
    {"nothing that is merged", [](config& c) { c.limits.merge_threshold = 0; }, {"merge_threshold", "0", "at least 1"}},
    {"no input", [](config& c) { c.limits.max_input = 0; }, {"max_input", "0", "at least 1"}},
    {"a negative first_byte_timeout",
     [](config& c) { c.limits.first_byte_timeout = -1s; },
     {"first_byte_timeout", "-1 s", "at least 0", "no limit"}},
    {"a negative message_timeout",
     [](config& c) { c.limits.message_timeout = -2ms; },
     {"message_timeout", "-2 ms", "at least 0", "no limit"}},
    {"a negative idle_timeout",
     [](config& c) { c.limits.idle_timeout = -1ns; },
     {"idle_timeout", "-1 ns", "at least 0", "no limit"}},
    {"a negative send_timeout",
     [](config& c) { c.limits.send_timeout = -1min; },
     {"send_timeout", "-1 min", "at least 0", "no limit"}},
    {"a negative linger_timeout",
     [](config& c) { c.limits.linger_timeout = -3s; },
     {"linger_timeout", "-3 s", "at least 0", "closes at once"}},
    {"no backlog", [](config& c) { c.listen[0].backlog = 0; }, {"backlog", "0", "at least 1", "0.0.0.0:0"}},
    {"negative keep_alive",
     [](config& c) { c.listen[0].socket.keep_alive = -1s; },
     {"keep_alive", "-1 s", "0.0.0.0:0"}},
    {"too long a keep_alive",
     [](config& c) { c.listen[0].socket.keep_alive = 40'000s; },
     {"keep_alive", "40000 s", "32767 s"}},
    {"endless user_timeout",
     [](config& c) { c.listen[0].socket.user_timeout = 25h; },
     {"user_timeout", "25 h", "24 h"}},
    {"negative backlog", [](config& c) { c.listen[0].backlog = -3; }, {"backlog", "-3", "at least 1"}},
    {"a host name", [](config& c) { c.listen = {"localhost:80"}; }, {"address", "localhost", "IPv4", "IPv6", "unix:/"}},
    {"half an address", [](config& c) { c.listen = {"127.0.0.:80"}; }, {"address", "127.0.0.", "IPv4"}},
    {"no address", [](config& c) { c.listen = {""}; }, {"address", "IPv4"}},
    {"nowhere", [](config& c) { c.listen.clear(); }, {"listen", "at least one"}},
    {"the priority loop only", [](config& c) { c.listen[0].priority = true; }, {"listen", "ordinary", "at least one"}},
    {"one address twice",
     [](config& c) { c.listen = {"127.0.0.1:1234", {"127.0.0.1:1234", {.priority = true}}}; },
     {"listen", "127.0.0.1:1234", "twice"}},
    {"dual stack of IPv4", [](config& c) { c.listen[0].dual_stack = true; }, {"dual_stack", "0.0.0.0:0", "IPv6"}},
    {"shared memory over TCP",
     [](config& c) { c.listen[0].upgrade = connection_upgrade::shared_memory; },
     {"upgrade", "0.0.0.0:0", "unix:/path", "unix:@name"}},
    {"an odd ring",
     [](config& c) {
       c.listen = {{"unix:@quintet-test",
                    {.upgrade = connection_upgrade::shared_memory, .shared_memory = {.ring_size = 5000}}}};
     },
     {"shared_memory.ring_size", "unix:@quintet-test", "5000", "4 KiB", "64 MiB"}},
    {"clients of TCP that have no credentials",
     [](config& c) { c.listen[0].may_connect = [](const peer_credentials&) { return true; }; },
     {"may_connect", "0.0.0.0:0", "unix:/path", "unix:@name"}},
    {"a file for nobody",
     [](config& c) {
       c.listen = {{"unix:@quintet-test",
                    {.upgrade = connection_upgrade::shared_memory, .shared_memory = {.connections_per_file = 0}}}};
     },
     {"shared_memory.connections_per_file", "unix:@quintet-test", "0", "from 1 to 1024"}},
    {"a mode without a file", [](config& c) { c.listen[0].mode = 0600; }, {"mode", "0.0.0.0:0", "unix:/path"}},
    {"too wide a mode", [](config& c) { c.listen = {{"unix:/x", {.mode = 01777}}}; }, {"mode", "unix:/x", "0777"}},
    {"a negative buffer", [](config& c) { c.listen[0].socket.send_buffer = -1; }, {"send_buffer", "-1", "at least 0"}},
    {"another", [](config& c) { c.listen[0].socket.receive_buffer = -1; }, {"receive_buffer", "-1", "at least 0"}},
    {"a negative descriptor", [](config& c) { c.listen[0].descriptor = -2; }, {"descriptor", "-2"}},
    {"too high a rate", [](config& c) { c.accepting.accept_rate = 2'000'000; }, {"accept_rate", "2000000", "1000000"}},
    {"a burst of nothing", [](config& c) { c.accepting.accept_burst = 5; }, {"accept_burst", "5", "accept_rate"}},
    {"a negative spin", [](config& c) { c.advanced.loop.spin = -1us; }, {"spin", "-1 us", "at least 0"}},
    {"more static output than may wait",
     [](config& c) {
       c.memory.max_output_total = 1000;
       c.advanced.loop.static_output = 1001;
     },
     {"static_output", "1001", "max_output_total, 1000"}},
    {"receives of nothing",
     [](config& c) { c.advanced.loop.receive_size = 0; },
     {"receive_size", "0", "from 1 to 65536"}},
    {"too long a spin", [](config& c) { c.advanced.loop.spin = 1s; }, {"spin", "1 s", "at most 100 ms"}},
    {"a negative busy poll", [](config& c) { c.advanced.busy_poll = -1us; }, {"busy_poll", "-1 us", "from 0"}},
    {"too long a busy poll", [](config& c) { c.advanced.busy_poll = 1s; }, {"busy_poll", "1 s", "to 100 ms"}},
    {"no such model", [](config& c) { c.model = static_cast<model>(6); }, {"model", "6", "1 to 5"}},
};

BOOST_DATA_TEST_CASE(a_wrong_value_is_named, boost::unit_test::data::make(wrong_ones), w) {
  config c;
  w.make(c);
  try {
    const server srv(c, &ignore);
    BOOST_ERROR("accepted: " << w);
  } catch (const config_error& e) {
    for (const std::string& word : w.says)
      BOOST_TEST(std::string_view(e.what()).find(word) != std::string_view::npos,
                 "'" << e.what() << "' lacks " << word);
  }
}

// A value is validated even if only other models use it.
BOOST_DATA_TEST_CASE(a_wrong_value_is_refused_by_every_model, boost::unit_test::data::make(all_models), kind) {
  for (const wrong& w : wrong_ones) {
    config c{.model = kind};
    w.make(c);
    BOOST_CHECK_THROW(server(c, &ignore), config_error);
  }
}

BOOST_DATA_TEST_CASE(a_port_in_use_is_named, boost::unit_test::data::make(all_models), kind) {
  const server first({.model = kind}, &ignore);
  BOOST_REQUIRE(first.port() != 0);
  const std::string at = first.addresses()[0].to_string();
  const auto names_it = [&](const boost::system::system_error& e) {
    BOOST_TEST(e.code() == boost::system::errc::address_in_use);
    return std::string(e.what()).find(at) != std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(server({.listen = {at}, .model = kind}, &ignore), boost::system::system_error, names_it);
  BOOST_CHECK_EXCEPTION(server({.listen = {"127.0.0.1:0", {at, {.priority = true}}}, .model = kind}, &ignore),
                        boost::system::system_error, names_it);
}

BOOST_AUTO_TEST_CASE(ports_are_known_before_run) {
  const server with({.listen = {"127.0.0.1:0", {"127.0.0.1:0", {.priority = true}}}}, &ignore), without({}, &ignore);
  BOOST_TEST(with.port() != 0);
  BOOST_TEST(with.priority_port() != 0);
  BOOST_TEST(with.port() != with.priority_port());
  BOOST_TEST(without.priority_port() == 0);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(quintet::testing::needs_ipv6))
BOOST_AUTO_TEST_CASE(addresses_are_those_that_were_bound_in_the_order_given) {
  const server srv({.listen = {"unix:@quintet-configuration-test", {"127.0.0.1:0", {.priority = true}}, "[::1]:0"}},
                   &ignore);
  BOOST_REQUIRE(srv.addresses().size() == 3u);
  BOOST_TEST(srv.addresses()[0].to_string() == "unix:@quintet-configuration-test");
  BOOST_TEST(srv.addresses()[1].to_string() == join_address("127.0.0.1", srv.priority_port()));
  BOOST_TEST(srv.addresses()[2].to_string() == join_address("::1", srv.port()));
  BOOST_TEST(srv.port() != 0);
}

// Each resource that a stranger can hold, and each wait for a stranger, has a limit. Sizes are below the defaults of
// config{}.
BOOST_AUTO_TEST_CASE(public_defaults_limit_everything) {
  const config c = config::public_defaults({"127.0.0.1:0"}), plain;
  BOOST_TEST(c.listen.size() == 1U);
  BOOST_TEST(c.listen[0].at == "127.0.0.1:0");
  BOOST_TEST((c.listen[0].socket.keep_alive > 0s && c.listen[0].socket.keep_alive <= 1h));
  BOOST_TEST((c.listen[0].socket.user_timeout > c.limits.send_timeout));
  const listener_settings own{.socket = {.keep_alive = 7s, .user_timeout = 8s}};
  const config with_own = config::public_defaults({{"127.0.0.1:0", own}});
  BOOST_TEST((with_own.listen[0].socket.keep_alive == 7s && with_own.listen[0].socket.user_timeout == 8s));
  BOOST_TEST(c.accepting.max_connections > 0U);
  for (const duration d : {c.limits.first_byte_timeout, c.limits.idle_timeout, c.limits.send_timeout,
                           c.limits.message_timeout, c.limits.linger_timeout})
    BOOST_TEST((d > duration::zero() && d <= 1h));
  BOOST_TEST(c.limits.min_receive_rate > 0U);
  BOOST_TEST(c.limits.max_input < plain.limits.max_input);
  BOOST_TEST(c.limits.max_output < plain.limits.max_output);
  BOOST_TEST(c.limits.high_watermark < plain.limits.high_watermark);
  BOOST_TEST(c.limits.low_watermark < plain.limits.low_watermark);
  BOOST_TEST(c.memory.max_output_total < plain.memory.max_output_total);
  BOOST_TEST(c.memory.max_input_total < plain.memory.max_input_total);
}

BOOST_DATA_TEST_CASE(defaults_are_valid_in_every_model, boost::unit_test::data::make(all_models), kind) {
  config sessions = config::session_defaults();
  sessions.model = kind;
  BOOST_CHECK_NO_THROW(server(sessions, &ignore));
  config c = config::public_defaults();
  BOOST_TEST(c.listen[0].at == default_listeners()[0].at);
  c.model = kind;
  BOOST_CHECK_NO_THROW(server(c, &ignore));
}

BOOST_AUTO_TEST_CASE(session_defaults_limit_memory_and_not_time) {
  const config c = config::session_defaults({"127.0.0.1:0"}), strangers = config::public_defaults(), plain;
  BOOST_TEST(c.listen.size() == 1U);
  BOOST_TEST((c.listen[0].socket.keep_alive > 0s && c.listen[0].socket.user_timeout == 0s));
  const listener_settings own{.socket = {.keep_alive = 7s, .user_timeout = 8s}};
  const config with_own = config::session_defaults({{"127.0.0.1:0", own}});
  BOOST_TEST((with_own.listen[0].socket.keep_alive == 7s && with_own.listen[0].socket.user_timeout == 8s));
  BOOST_TEST((c.accepting.max_connections == strangers.accepting.max_connections));
  BOOST_TEST((c.limits.first_byte_timeout == strangers.limits.first_byte_timeout));
  for (const duration d : {c.limits.idle_timeout, c.limits.send_timeout, c.limits.message_timeout})
    BOOST_TEST((d == duration::zero()));
  BOOST_TEST((c.limits.max_input > strangers.limits.max_input && c.limits.max_input < plain.limits.max_input));
  BOOST_TEST(c.limits.max_output > c.limits.max_input);  // so that a message can be sent back
  BOOST_TEST(c.limits.max_output < plain.limits.max_output);
  BOOST_TEST(c.limits.high_watermark == strangers.limits.high_watermark);
  BOOST_TEST(c.memory.max_output_total == strangers.memory.max_output_total);
  BOOST_TEST(c.memory.max_input_total == strangers.memory.max_input_total);
}

// A client that thinks for hours between two requests and within one, and one that reads a result slowly.
BOOST_AUTO_TEST_CASE(a_session_lives_on_where_a_stranger_is_cut_off) {
  for (const testing::shape& s : testing::shapes) {
    for (const bool is_session : {true, false}) {
      const config c = is_session ? config::session_defaults() : config::public_defaults();
      testing::world w(1, s, framed(delimiter("\n"), [](connection& on, bytes m) { on.write(m); }), c.limits);
      const int idle = w.connect(), within = w.connect();
      BOOST_TEST(w.converse(idle, "a\n") == "a");
      BOOST_TEST(w.converse(within, "a\nb") == "a");
      w.sim.advance(1h, 10s);
      BOOST_TEST(w.converse(idle, "c\n") == (is_session ? "c" : ""));
      BOOST_TEST(w.converse(within, "c\n") == (is_session ? "bc" : ""));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_plain_config_has_no_time_limits_and_large_sizes) {
  const config c;
  BOOST_TEST((c.listen[0].socket.keep_alive == 0s && c.listen[0].socket.user_timeout == 0s));
  BOOST_TEST(c.accepting.max_connections == 0U);
  BOOST_TEST(!c.limits.timed());
  BOOST_TEST((c.limits.linger_timeout == 1s));
  BOOST_TEST(c.limits.min_receive_rate == 0U);
  BOOST_TEST(c.limits.max_input == 64U << 20U);
  BOOST_TEST(c.limits.max_output == 256U << 20U);
  BOOST_TEST(c.limits.high_watermark == 1U << 20U);
  BOOST_TEST(c.limits.low_watermark == 512U << 10U);
  BOOST_TEST((c.limits.overflow == overflow_policy::pause));
  BOOST_TEST(c.memory.max_output_total == std::size_t{4} << 30U);
  BOOST_TEST(c.memory.max_input_total == std::size_t{4} << 30U);
}

BOOST_AUTO_TEST_CASE(models_have_names_and_numbers) {
  const std::vector<std::string> names{"thread_per_connection", "single_reactor", "reactor_pool", "loop_per_thread",
                                       "loop_per_thread_pool"};
  for (std::size_t i = 0; i < all_models.size(); ++i) {
    BOOST_TEST(to_string(all_models[i]) == names[i]);
    BOOST_TEST((from_string(names[i]) == all_models[i]));
    BOOST_TEST((from_string(std::to_string(i + 1)) == all_models[i]));
    BOOST_TEST(static_cast<std::size_t>(all_models[i]) == i + 1);
  }
}

BOOST_AUTO_TEST_CASE(the_environment_names_the_default) {
  ::unsetenv("QUINTET_MODEL");
  BOOST_TEST((config{}.model == model::loop_per_thread));
  for (const model m : all_models) {
    ::setenv("QUINTET_MODEL", std::string(to_string(m)).c_str(), 1);
    BOOST_TEST((config{}.model == m));
    BOOST_TEST((config::public_defaults().model == m));
    BOOST_TEST((config{.model = model::reactor_pool}.model == model::reactor_pool));  // the program's choice counts
  }
  ::setenv("QUINTET_MODEL", "reactor", 1);
  BOOST_CHECK_EXCEPTION(config(), config_error, [](const config_error& e) {
    return std::string(e.what()) ==
           "QUINTET_MODEL=reactor is not a model; it must be 1 to 5, or one of: " + names_of<model>();
  });
  BOOST_CHECK_NO_THROW(config{.model = model::reactor_pool});
  ::unsetenv("QUINTET_MODEL");
}

BOOST_AUTO_TEST_CASE(other_texts_are_no_model) {
  for (const char* text : {"", "0", "6", "01", "1 ", " 1", "12", "-1", "reactor", "Single_Reactor", "single_reactor ",
                           "loop_per_thread_poo", "loop_per_thread_pools"})
    BOOST_TEST(!from_string(text), "'" << text << "' was taken for a model");
  BOOST_TEST((from_string(std::string_view("1\0", 2)) == std::nullopt));
}

}  // namespace
}  // namespace quintet::test
