// SPDX-License-Identifier: BSL-1.0
// passed_descriptors_test: no peer can stop a loop by a descriptor whose closing takes long.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "lingering_socket.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/shared_memory_client.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <sys/socket.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

/// A server that listens from the beginning, and whose loops run from begin() on.
class later_server {
 public:
  explicit later_server(const config& c) : server_(c, echo()) {}
  ~later_server() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  void begin() {
    thread_ = std::thread([this] { server_.run(); });
  }
  server& operator*() noexcept { return server_; }

 private:
  server server_;
  std::thread thread_;
};

/// Another connection is served, and not because the foreign descriptor has been closed meanwhile.
void is_served(client other, const lingering_socket& passed) {
  other.send("alive");
  BOOST_TEST(other.receive(5) == "alive");
  BOOST_TEST((passed.was_refused() || passed.is_open()));
}

config one_loop(model kind, listen_options unix_socket) {
  return {.listen = {std::move(unix_socket), "127.0.0.1:0"}, .model = kind, .threads = {.loops = 1, .workers = {1, 1}}};
}

BOOST_DATA_TEST_CASE(a_client_passes_a_descriptor_to_a_unix_socket, data::make(all_models), kind) {
  const std::string at = fresh_unix_address();
  later_server srv(one_loop(kind, {at}));
  lingering_socket passed;
  const file_descriptor attacker = connected_to(at);
  passed.leave_to(attacker.get());
  BOOST_TEST(passed.was_refused() == refuses_descriptors());
  srv.begin();
  is_served(client((*srv).port()), passed);
  is_served(client::over(connected_to(at).release()), passed);
}

BOOST_DATA_TEST_CASE(a_client_that_may_not_connect_passes_a_descriptor, data::make(all_models), kind) {
  const std::string at = fresh_unix_address();
  later_server srv(one_loop(kind, {at, {.may_connect = [](const peer_credentials&) { return false; }}}));
  lingering_socket passed;
  const file_descriptor attacker = connected_to(at);
  passed.leave_to(attacker.get());
  srv.begin();
  BOOST_TEST(eventually([&] { return (*srv).statistics().refused == 1U; }));
  is_served(client((*srv).port()), passed);
}

// The parent process has not made its socket refuse descriptors, and connections already wait.
BOOST_DATA_TEST_CASE(descriptors_that_came_before_an_inherited_listener_are_harmless, data::make(all_models), kind) {
  const address at(fresh_unix_address());
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  BOOST_REQUIRE(::bind(listening, at.data(), at.size()) == 0);
  BOOST_REQUIRE(::listen(listening, 5) == 0);
  lingering_socket passed, queued;
  const file_descriptor attacker = connected_to(at.to_string()), other = connected_to(at.to_string());
  passed.leave_to(attacker.get());
  BOOST_TEST(!passed.was_refused());
  BOOST_TEST(::send(other.get(), "x", 1, MSG_NOSIGNAL) == 1);
  queued.leave_to(other.get());
  later_server srv(one_loop(kind, {"", {.descriptor = listening}}));
  srv.begin();
  is_served(client((*srv).port()), passed);
  client late = client::over(connected_to(at.to_string()).release());
  late.send("late");
  BOOST_TEST(late.receive(4) == "late");
  BOOST_TEST(queued.is_open());
}

BOOST_DATA_TEST_CASE(a_client_over_shared_memory_passes_descriptors, data::make(all_models), kind) {
  const std::string at = fresh_unix_address();
  later_server srv(one_loop(kind, {at, {.upgrade = connection_upgrade::shared_memory}}));
  lingering_socket early, late;
  const file_descriptor first = connected_to(at + ".shm"), second = connected_to(at + ".shm");
  early.leave_to(first.get());
  srv.begin();
  is_served(client((*srv).port()), early);
  shm::segment memory;
  BOOST_TEST(eventually([&] { return !shm::receive_offer(second.get(), memory); }));
  late.pass_to(second.get());
  BOOST_TEST(late.was_refused() == refuses_descriptors());
  shared_memory_client honest(at);
  honest.send("alive");
  BOOST_TEST(honest.wait());
  BOOST_TEST(honest.peek() == "alive");
  BOOST_TEST((late.was_refused() || late.is_open()));
}

// ---- Clients of a hostile server ------------------------------------------------------------------------------------

struct hostile_server {
  explicit hostile_server(const std::string& at) {
    const address to(at);
    BOOST_REQUIRE(::bind(listening.get(), to.data(), to.size()) == 0);
    BOOST_REQUIRE(::listen(listening.get(), 5) == 0);
  }
  file_descriptor accept() const { return file_descriptor(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  const file_descriptor listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

struct asking {
  std::atomic<int>* answers;
  void on_open(connection& c) const { c.write("question"); }
  void operator()(connection&, bytes) const { ++*answers; }
};

BOOST_AUTO_TEST_CASE(a_server_passes_a_descriptor_to_a_client_with_a_loop) {
  const std::string at = fresh_unix_address();
  const hostile_server hostile(at);
  running<server> honest(config{.listen = {"127.0.0.1:0"}}, echo());
  std::atomic<int> answers{0};
  running<quintet::client> asks(client_config{}, asking{&answers});
  asks->connect(at);
  const file_descriptor accepted = hostile.accept();
  lingering_socket passed;
  passed.pass_to(accepted.get());
  BOOST_TEST(passed.was_refused() == refuses_descriptors());
  asks->connect("127.0.0.1:" + std::to_string(honest->port()));
  BOOST_TEST(eventually([&] { return answers >= 1; }));
  BOOST_TEST((passed.was_refused() || passed.is_open()));
}

/// What comes instead of an offer, or after it.
enum class answer { descriptor, bytes_before_it, two_descriptors, honest_offer };
std::ostream& operator<<(std::ostream& out, answer a) { return out << static_cast<int>(a); }

void answer_with(answer what, int accepted, lingering_socket& passed) {
  shm::segment_offer all{
      .magic = shm::segment_offer::expected_magic, .version = shm::segment_offer::current_version, .ring_size = 4096};
  const bytes offer{reinterpret_cast<const char*>(&all), sizeof all};
  if (what == answer::bytes_before_it) BOOST_TEST(::send(accepted, "x", 1, MSG_NOSIGNAL) == 1);
  if (what == answer::honest_offer) {
    stream_handle to(accepted);
    shm::segment_offerer({.ring_size = 4096}).offer_to(to);
  }
  passed.pass_to(accepted, offer, what == answer::two_descriptors ? 2 : 1);
}

const auto refused = [](const boost::system::system_error& e) {
  return e.code() == boost::system::errc::protocol_error;
};

BOOST_DATA_TEST_CASE(a_server_passes_a_descriptor_instead_of_shared_memory,
                     data::make({answer::descriptor, answer::bytes_before_it, answer::two_descriptors,
                                 answer::honest_offer}),
                     what) {
  const std::string at = fresh_unix_address();
  const hostile_server hostile(at + ".shm");
  lingering_socket passed;
  file_descriptor accepted;
  std::thread serves([&] {
    accepted = hostile.accept();
    answer_with(what, accepted.get(), passed);
  });
  std::optional<shared_memory_client> c;
  if (what == answer::honest_offer)  // the descriptor may arrive later, when the client refuses it
    try {
      c.emplace(at);
    } catch (const boost::system::system_error& e) {
      BOOST_TEST(refused(e));
    }
  else
    BOOST_CHECK_EXCEPTION(c.emplace(at), boost::system::system_error, refused);
  serves.join();
  if (c && !passed.was_refused()) BOOST_TEST(!c->wait());  // the wake-up is none
  c.reset();
  BOOST_TEST((passed.was_refused() || passed.is_open()));
}

BOOST_AUTO_TEST_CASE(a_client_with_a_loop_gets_a_descriptor_instead_of_shared_memory) {
  const std::string at = fresh_unix_address();
  const hostile_server hostile(at + ".shm");
  running<server> honest(config{.listen = {at, "127.0.0.1:0"}}, echo());
  std::atomic<int> answers{0};
  running<quintet::client> asks(client_config{.connecting = {.upgrade = connection_upgrade::shared_memory}},
                                asking{&answers});
  asks->connect(at);
  const file_descriptor accepted = hostile.accept();
  lingering_socket passed;
  answer_with(answer::descriptor, accepted.get(), passed);
  BOOST_TEST(!passed.was_refused());
  BOOST_TEST(eventually([&] { return answers == 1; }));  // over the Unix socket
  BOOST_TEST(passed.is_open());
}

}  // namespace
}  // namespace quintet::test
