// SPDX-License-Identifier: BSL-1.0
// options_test: each option with limits: its default, a wrong value, and the message that names it.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <quintet/net/connection_pool.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

void ignore(connection&, bytes) {}

/// One option. `Options` is the struct that a program fills in: config, client_config or connection_pool_options.
template <class Options>
struct row {
  std::string message;  // the whole message for the wrong value
  std::function<bool(const Options&)> has_default;
  std::function<void(Options&)> make_wrong;
  friend std::ostream& operator<<(std::ostream& out, const row& r) { return out << r.message; }
};

/// `get` is a function of the options that returns a reference to the option.
template <class Options, class Get, class Default, class Wrong>
row<Options> option(Get get, Default usual, Wrong wrong, std::string message) {
  using value = std::remove_reference_t<decltype(get(std::declval<Options&>()))>;
  return {std::move(message), [get, usual](const Options& o) { return get(o) == value(usual); },
          [get, wrong](Options& o) { get(o) = value(wrong); }};
}

template <class... Arguments>
row<config> server_row(Arguments... arguments) {
  return option<config>(std::move(arguments)...);
}
template <class... Arguments>
row<client_config> client_row(Arguments... arguments) {
  return option<client_config>(std::move(arguments)...);
}
template <class... Arguments>
row<connection_pool_options> pool_row(Arguments... arguments) {
  return option<connection_pool_options>(std::move(arguments)...);
}

const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
constexpr std::size_t mib = std::size_t{1} << 20U;

const std::vector<row<config>> of_threads{
    server_row([](auto& c) -> auto& { return c.threads.loops; }, cpus, 0U, "loops is 0; it must be at least 1"),
    server_row([](auto& c) -> auto& { return c.threads.workers.min; }, 1U, 0U,
               "workers.min is 0; it must be at least 1"),
    server_row([](auto& c) -> auto& { return c.threads.workers.min; }, 1U, 5U,
               "workers.min is 5; it must be at most workers.max, 4"),
    server_row([](auto& c) -> auto& { return c.threads.workers.max; }, 4U, 0U,
               "workers.max is 0; it must be at least 1"),
    server_row([](auto& c) -> auto& { return c.threads.workers.spin; }, 0s, 1s,
               "spin is 1 s; it must be at most 100 ms"),
    server_row([](auto& c) -> auto& { return c.threads.helpers; }, 0U, 4097U,
               "helpers is 4097; it must be at most 4096"),
    server_row([](auto& c) -> auto& { return c.threads.handshakes; }, std::clamp(cpus / 2, 1U, 8U), 1025U,
               "handshakes is 1025; it must be at most 1024"),
    server_row([](auto& c) -> auto& { return c.threads.workers.idle_time; }, 5s, 0s,
               "workers.idle_time is 0 s; it must be above 0"),
    server_row([](auto& c) -> auto& { return c.threads.workers.queue_latency; }, 500us, -1ns,
               "workers.queue_latency is -1 ns; it must be at least 0"),
    server_row([](auto& c) -> auto& { return c.threads.workers.stuck_time; }, 250ms, 0s,
               "workers.stuck_time is 0 s; it must be above 0"),
    server_row([](auto& c) -> auto& { return c.threads.workers.overload_latency; }, 500ms, -1ns,
               "workers.overload_latency is -1 ns; it must be at least 0"),
    server_row([](auto& c) -> auto& { return c.threads.offload.threshold; }, 20us, -1ns,
               "offload.threshold is -1 ns; it must be at least 0"),
    server_row([](auto& c) -> auto& { return c.threads.offload.inline_overrun_ratio; }, 0.005, 1.5,
               "offload.inline_overrun_ratio is 1.5; it must be above 0 and at most 1"),
    server_row([](auto& c) -> auto& { return c.threads.offload.inline_overrun_burst; }, 10ms, -1ns,
               "offload.inline_overrun_burst is -1 ns; it must be at least 0"),
    server_row([](auto& c) -> auto& { return c.threads.max_threads; }, 4096U, 0U,
               "max_threads is 0; it must be at least 1"),
    server_row([](auto& c) -> auto& { return c.placement.cpus; }, std::vector<int>(), std::vector<int>{100'000},
               "cpus contains CPU 100000; it must contain only CPUs that exist and that this process may use"),
    server_row([](auto& c) -> auto& { return c.placement.own_descriptors; }, false, true,
               "own_descriptors is true; it must be false unless model is loop_per_thread and accept is reuse_port or "
               "reuse_port_cpu"),
};

const std::vector<row<config>> of_limits{
    server_row([](auto& c) -> auto& { return c.limits.max_input; }, 64 * mib, 0U,
               "max_input is 0; it must be at least 1 byte"),
    server_row([](auto& c) -> auto& { return c.limits.max_output; }, 256 * mib, 0U,
               "max_output is 0; it must be at least 1 byte"),
    server_row([](auto& c) -> auto& { return c.limits.high_watermark; }, mib, 512 * mib,
               "high_watermark is 536870912; it must be at most max_output, 268435456"),
    server_row([](auto& c) -> auto& { return c.limits.low_watermark; }, mib / 2, 2 * mib,
               "low_watermark is 2097152; it must be at most high_watermark, 1048576"),
    server_row([](auto& c) -> auto& { return c.limits.first_byte_timeout; }, 0s, -1s,
               "first_byte_timeout is -1 s; it must be at least 0 (0 means no limit)"),
    server_row([](auto& c) -> auto& { return c.limits.idle_timeout; }, 0s, -1ns,
               "idle_timeout is -1 ns; it must be at least 0 (0 means no limit)"),
    server_row([](auto& c) -> auto& { return c.limits.send_timeout; }, 0s, -1min,
               "send_timeout is -1 min; it must be at least 0 (0 means no limit)"),
    server_row([](auto& c) -> auto& { return c.limits.message_timeout; }, 0s, -2ms,
               "message_timeout is -2 ms; it must be at least 0 (0 means no limit)"),
    server_row([](auto& c) -> auto& { return c.limits.min_receive_rate; }, 0U, 1U,
               "min_receive_rate is 1; it must be 0 if message_timeout is 0"),
    server_row([](auto& c) -> auto& { return c.limits.linger_timeout; }, 1s, -3s,
               "linger_timeout is -3 s; it must be at least 0 (0 closes at once)"),
    server_row([](auto& c) -> auto& { return c.accepting.accept_rate; }, 0U, 2'000'000U,
               "accept_rate is 2000000; it must be at most 1000000"),
    server_row([](auto& c) -> auto& { return c.accepting.accept_burst; }, 0U, 5U,
               "accept_burst is 5; it must be 0 if accept_rate is 0"),
};

const std::vector<row<config>> of_listeners{
    server_row([](auto& c) -> auto& { return c.listen[0].socket.send_buffer; }, 0, -1,
               "0.0.0.0:0: socket.send_buffer is -1; it must be at least 0"),
    server_row([](auto& c) -> auto& { return c.listen[0].socket.receive_buffer; }, 0, -1,
               "0.0.0.0:0: socket.receive_buffer is -1; it must be at least 0"),
    server_row([](auto& c) -> auto& { return c.listen[0].socket.keep_alive; }, 0s, 32'768s,
               "0.0.0.0:0: socket.keep_alive is 32768 s; it must be from 0 to 32767 s"),
    server_row([](auto& c) -> auto& { return c.listen[0].socket.user_timeout; }, 0ms, -1ms,
               "0.0.0.0:0: socket.user_timeout is -1 ms; it must be from 0 to 24 h"),
};

const std::vector<row<config>> advanced{
    server_row([](auto& c) -> auto& { return c.advanced.priority.reserve_descriptors; }, 16U, 4097U,
               "priority.reserve_descriptors is 4097; it must be at most 4096"),
    server_row([](auto& c) -> auto& { return c.advanced.priority.reserve_memory; }, mib, 1024 * mib + 1,
               "priority.reserve_memory is 1073741825; it must be at most 1073741824"),
    server_row([](auto& c) -> auto& { return c.advanced.heartbeat.interval; }, 0s, -1ns,
               "heartbeat.interval is -1 ns; it must be at least 0 (0 means off)"),
    server_row([](auto& c) -> auto& { return c.advanced.heartbeat.ping_after; }, 0s, 1s,
               "heartbeat.ping_after is 1 s; it must be 0, or at least heartbeat.interval, which must then be above 0"),
    server_row([](auto& c) -> auto& { return c.advanced.heartbeat.ping; }, "", "PING",
               "heartbeat.ping and heartbeat.ping_after do not match; both must be set, or neither"),
    server_row(
        [](auto& c) -> auto& { return c.advanced.heartbeat.evict_after; }, 0s, 1s,
        "heartbeat.evict_after is 1 s; it must be 0, or at least heartbeat.interval, which must then be above 0"),
    server_row([](auto& c) -> auto& { return c.advanced.rebalance.factor; }, 0, 1.04,
               "rebalance.factor is 1.04; it must be 0 (off), or from 1.05 to 1000"),
    server_row([](auto& c) -> auto& { return c.advanced.rebalance.interval; }, 250ms, 0s,
               "rebalance.interval is 0 s; it must be at least 1 ms"),
    server_row([](auto& c) -> auto& { return c.advanced.stalls.bound; }, default_stall_bound(), 1us,
               "stalls.bound is 1 us; it must be 0 (no watchdog), or from 1 ms to 1 h"),
    server_row([](auto& c) -> auto& { return c.advanced.loop.spin; }, 0s, -1us,
               "spin is -1 us; it must be at least 0 (0 disables spinning)"),
    server_row([](auto& c) -> auto& { return c.advanced.busy_poll; }, 0us, 1s,
               "busy_poll is 1 s; it must be from 0 to 100 ms"),
};

const std::vector<row<client_config>> of_clients{
    client_row([](auto& c) -> auto& { return c.threads.loops; }, cpus, 0U, "loops is 0; it must be at least 1"),
    client_row([](auto& c) -> auto& { return c.limits.max_input; }, 64 * mib, 0U,
               "max_input is 0; it must be at least 1 byte"),
    client_row([](auto& c) -> auto& { return c.loop.spin; }, 0s, 1s, "spin is 1 s; it must be at most 100 ms"),
    client_row([](auto& c) -> auto& { return c.connecting.timeout; }, 10s, -1ns,
               "connecting.timeout is -1 ns; it must be at least 0 (0 means no limit)"),
    client_row([](auto& c) -> auto& { return c.connecting.socket.send_buffer; }, 0, -1,
               "connecting.socket.send_buffer is -1; it must be at least 0"),
    client_row([](auto& c) -> auto& { return c.connecting.socket.receive_buffer; }, 0, -1,
               "connecting.socket.receive_buffer is -1; it must be at least 0"),
    client_row([](auto& c) -> auto& { return c.connecting.socket.keep_alive; }, 0s, -1s,
               "connecting.socket.keep_alive is -1 s; it must be from 0 to 32767 s"),
    client_row([](auto& c) -> auto& { return c.connecting.socket.user_timeout; }, 0ms, 25h,
               "connecting.socket.user_timeout is 25 h; it must be from 0 to 24 h"),
};

const std::vector<row<connection_pool_options>> of_pools{
    pool_row([](auto& o) -> auto& { return o.max; }, 16U, 0U, "pool.max is 0; it must be at least 1"),
    pool_row([](auto& o) -> auto& { return o.idle_timeout; }, 30s, -1ns,
             "pool.idle_timeout is -1 ns; it must be at least 0 (0 keeps idle connections open)"),
    pool_row([](auto& o) -> auto& { return o.connecting.timeout; }, 10s, -1ns,
             "connecting.timeout is -1 ns; it must be at least 0 (0 means no limit)"),
};

struct reconnect_row {
  std::string message;
  reconnect_options wrong;
  friend std::ostream& operator<<(std::ostream& out, const reconnect_row& r) { return out << r.message; }
};

const std::vector<reconnect_row> of_reconnecting{
    {"reconnect.base is 0 s; it must be above 0", {.base = 0s}},
    {"reconnect.cap is 1 ms; it must be at least reconnect.base, 100 ms", {.cap = 1ms}},
    {"reconnect.lasted is -1 s; it must be at least 0", {.lasted = -1s}},
};

BOOST_AUTO_TEST_CASE(a_ping_after_the_eviction) {
  const heartbeat_options wrong{.interval = 1s, .ping_after = 90s, .ping = "PING", .evict_after = 1min};
  BOOST_CHECK_EXCEPTION(validate(wrong), config_error, [](const config_error& e) {
    BOOST_TEST(std::string(e.what()) == "heartbeat.ping_after is 90 s; it must be below heartbeat.evict_after, 1 min");
    return true;
  });
}

template <class Options, class Use>
void check(const row<Options>& r, Use use) {
  Options o;
  BOOST_TEST(r.has_default(o), "another default than in the row of '" << r << "'");
  r.make_wrong(o);
  BOOST_CHECK_EXCEPTION(use(o), config_error, [&](const config_error& e) {
    BOOST_TEST(std::string(e.what()) == r.message);
    return true;
  });
}

namespace data = boost::unit_test::data;

BOOST_DATA_TEST_CASE(threads_and_placement, data::make(of_threads), r) {
  check(r, [](const config& c) { const server srv(c, &ignore); });
}
BOOST_DATA_TEST_CASE(limits, data::make(of_limits), r) {
  check(r, [](const config& c) { const server srv(c, &ignore); });
}
BOOST_DATA_TEST_CASE(listeners, data::make(of_listeners), r) {
  check(r, [](const config& c) { const server srv(c, &ignore); });
}
BOOST_DATA_TEST_CASE(what_most_servers_leave_alone, data::make(advanced), r) {
  check(r, [](const config& c) { const server srv(c, &ignore); });
}
BOOST_DATA_TEST_CASE(clients, data::make(of_clients), r) {
  check(r, [](const client_config& c) { const client made(c, &ignore); });
}
BOOST_DATA_TEST_CASE(pools, data::make(of_pools), r) {
  check(r, [](const connection_pool_options& o) { validate(o); });
}
BOOST_DATA_TEST_CASE(reconnecting, data::make(of_reconnecting), r) {
  BOOST_CHECK_EXCEPTION(client(client_config{.reconnect = r.wrong}, &ignore), config_error,
                        [&](const config_error& e) { return e.what() == r.message; });
}

}  // namespace
}  // namespace quintet::test
