// SPDX-License-Identifier: BSL-1.0
// after_fork_test: a child of fork() without exec holds copies of all descriptors. Ends of connections and listeners
// reach the peer all the same, and signals to the child do not reach its parent.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "forked.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stop_on_signals.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

namespace quintet {

static std::ostream& operator<<(std::ostream& out, accept_strategy by) { return out << to_string(by); }

}  // namespace quintet

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;
using namespace std::chrono_literals;

int keep_all_descriptors() {
  ::pause();
  return 0;
}

std::string unix_name() {
  static int number = 0;
  return "unix:@quintet-fork-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
}

int connected(const address& at) {
  const int fd = ::socket(at.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw std::runtime_error("socket");
  if (::connect(fd, at.data(), at.size()) == 0) return fd;
  ::close(fd);
  return -1;
}

bool is_refused(const address& at) {
  const int fd = connected(at);
  const int failure = errno;
  if (fd >= 0) ::close(fd);
  return fd < 0 && failure == ECONNREFUSED;
}

/// Answers a line with itself, or ends the connection in the way that it names.
struct ending_handler {
  std::atomic<connection_registry*>* registry;
  void operator()(connection& c, bytes in) const {
    *registry = &c.registry();
    if (in.starts_with("close")) return c.close();
    if (in.starts_with("throw")) throw std::runtime_error("as requested");
    if (in.starts_with("abort")) return (void)c.registry().abort(c.id());
    if (in.starts_with("overflow")) return (void)c.write(std::string(200'000, 'x'));
    c.write(in);
  }
};

struct way {
  const char* request;  ///< sent to the server; nullptr: the client finishes sending
  ending over_tcp;
};
std::ostream& operator<<(std::ostream& out, const way& w) { return out << (w.request ? w.request : "finish"); }
constexpr way ways[] = {{"close\n", ending::orderly},  {"throw\n", ending::orderly},   {"abort\n", ending::reset},
                        {"overflow\n", ending::reset}, {"silence\n", ending::orderly}, {nullptr, ending::orderly}};

BOOST_DATA_TEST_CASE(the_peer_learns_of_the_end,
                     bdata::make(all_models) * bdata::make(ways) * bdata::make({false, true}), kind, how, over_unix) {
  std::atomic<connection_registry*> registry{nullptr};
  const bool times_out = how.request && std::string_view(how.request) == "silence\n";
  running<server> srv(config{.listen = {over_unix ? unix_name() : "127.0.0.1:0"},
                             .model = kind,
                             .threads = {.loops = 1, .workers = {1, 1}},
                             .limits = {.max_output = 100'000,
                                        .high_watermark = 100'000,
                                        .low_watermark = 50'000,
                                        .idle_timeout = times_out ? 50ms : 0ms}},
                      ending_handler{&registry});
  client c = client::over(connected(srv->addresses().front()));
  if (!times_out) {
    c.send("hello\n");
    BOOST_TEST(c.receive_line() == "hello");
  }
  forked child(&keep_all_descriptors);
  if (how.request && !times_out) c.send(how.request);
  if (!how.request) c.finish_sending();
  c.receive_rest();
  const bool is_exact = !over_unix && !times_out;
  if (is_exact) BOOST_TEST(to_string(c.ended()) == to_string(how.over_tcp));
  BOOST_TEST(!child.ended());
}

BOOST_DATA_TEST_CASE(stopping_ends_connections, bdata::make(all_models) * bdata::make({false, true}), kind, over_unix) {
  std::atomic<connection_registry*> registry{nullptr};
  running<server> srv(config{.listen = {over_unix ? unix_name() : "127.0.0.1:0"}, .model = kind},
                      ending_handler{&registry});
  client c = client::over(connected(srv->addresses().front()));
  c.send("hello\n");
  BOOST_TEST(c.receive_line() == "hello");
  const forked child(&keep_all_descriptors);
  srv.stop();
  BOOST_TEST(c.receive_rest().empty());
}

enum class listening_end { stop_listening, drain, stop };
std::ostream& operator<<(std::ostream& out, listening_end e) { return out << static_cast<int>(e); }
constexpr listening_end listening_ends[] = {listening_end::stop_listening, listening_end::drain, listening_end::stop};
constexpr accept_strategy strategies[] = {accept_strategy::main_reactor, accept_strategy::exclusive,
                                          accept_strategy::reuse_port};

config listening_at(const std::string& at, accept_strategy by) {
  return {.listen = {at},
          .model = model::loop_per_thread,
          .threads = {.loops = 2},
          .advanced = {.accept = by, .accept_strictly = false}};
}

BOOST_DATA_TEST_CASE(nobody_is_accepted_afterwards_and_another_server_can_listen,
                     bdata::make(listening_ends) * bdata::make(strategies), how, by) {
  std::atomic<connection_registry*> registry{nullptr};
  running<server> first(listening_at("127.0.0.1:0", by), ending_handler{&registry});
  const address at = first->addresses().front();
  ::close(connected(at));
  const forked child(&keep_all_descriptors);
  if (how == listening_end::stop_listening) first->stop_listening();
  if (how == listening_end::drain) first->drain(1h);
  if (how == listening_end::stop) first.stop();
  if (how != listening_end::stop_listening) first.join();
  BOOST_TEST(eventually([&] { return is_refused(at); }));
  running<server> second(listening_at(at.to_string(), by), ending_handler{&registry});
  client c = client::over(connected(at));
  c.send("hello\n");
  BOOST_TEST(c.receive_line() == "hello");
}

BOOST_AUTO_TEST_CASE(a_unix_listener_that_never_ran_refuses_too) {
  std::atomic<connection_registry*> registry{nullptr};
  auto never_run = std::make_unique<server>(config{.listen = {unix_name()}}, ending_handler{&registry});
  const address at = never_run->addresses().front();
  const forked child(&keep_all_descriptors);
  never_run.reset();
  BOOST_TEST(is_refused(at));
}

// A supervisor has made the socket, and other processes accept from it.
BOOST_DATA_TEST_CASE(a_socket_of_another_process_goes_on_listening,
                     bdata::make(strategies) * bdata::make(listening_ends), by, how) {
  std::atomic<connection_registry*> registry{nullptr};
  const address any("127.0.0.1:0");
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  BOOST_REQUIRE(::bind(listening, any.data(), any.size()) == 0);
  BOOST_REQUIRE(::listen(listening, 16) == 0);
  config options = listening_at("127.0.0.1:0", by);
  options.listen[0].descriptor = ::dup(listening);
  address at;
  {
    running<server> srv(options, ending_handler{&registry});
    at = srv->addresses().front();
    ::close(connected(at));
    if (how == listening_end::stop_listening) srv->stop_listening();
    if (how == listening_end::drain) srv->drain(1h);
  }
  const int fd = connected(at);
  BOOST_TEST(fd >= 0);
  ::close(fd);
  ::close(listening);
}

// ---- Signals --------------------------------------------------------------------------------------------------------

struct seen_by_parent {
  std::atomic<int> child{0}, port{0};
};

/// A server whose signals were blocked by the program that started it. Returns 0 if its child died of SIGTERM.
int serve_with_a_child(seen_by_parent& shared) {
  sigset_t blocked{};
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::atomic<connection_registry*> registry{nullptr};
  server srv(config{.listen = {"127.0.0.1:0"}, .model = model::single_reactor}, ending_handler{&registry});
  const stop_on_signals stopper(srv);
  forked child(&keep_all_descriptors);
  shared.child = child.pid();
  shared.port = srv.port();
  srv.run();
  const auto status = child.wait_for(patience);  // a sanitizer's thread may end behind the one that /proc shows
  return status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM ? 0 : 1;
}

bool is_zombie(pid_t process) {
  const std::string name = "/proc/" + std::to_string(process) + "/stat";
  std::ifstream file(name);
  std::string text;
  std::getline(file, text);
  return text.empty() || text.substr(text.rfind(')')).starts_with(") Z");
}

BOOST_AUTO_TEST_CASE(a_signal_to_the_child_is_the_childs) {
  shared_object<seen_by_parent> shared;
  forked serving([&] { return serve_with_a_child(*shared); });
  BOOST_REQUIRE(eventually([&] { return shared->port != 0; }));
  BOOST_TEST(::kill(shared->child, SIGTERM) == 0);
  BOOST_TEST(eventually([&] { return is_zombie(shared->child); }));
  BOOST_TEST(!serving.ended());
  client c(static_cast<std::uint16_t>(shared->port));
  c.send("hello\n");
  BOOST_TEST(c.receive_line() == "hello");
  BOOST_TEST(::kill(serving.pid(), SIGTERM) == 0);
  const auto status = serving.wait_for(patience);
  BOOST_REQUIRE(status.has_value());
  BOOST_TEST((WIFEXITED(*status) && WEXITSTATUS(*status) == 0));
}

}  // namespace
}  // namespace quintet::test
