// SPDX-License-Identifier: BSL-1.0
// server_identity_test: a client knows which user it has reached, before it sends or receives a byte.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/needs.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/shared_memory_client.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr uid_t another_user = 12345;

boost::test_tools::assertion_result needs_root(boost::unit_test::test_unit_id id) {
  return testing::skipped_unless(::geteuid() == 0, id, "only root can act as another user");
}

/// Calls f() while this thread, and no other one, has another effective user.
template <class F>
void as_another_user(F f) {
  BOOST_REQUIRE(::syscall(SYS_setresuid, -1, another_user, -1) == 0);
  f();
  BOOST_REQUIRE(::syscall(SYS_setresuid, -1, 0, -1) == 0);
}

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};
struct asking {
  std::atomic<int>* answers;
  void on_open(connection& c) const { c.write("question"); }
  void operator()(connection&, bytes) const { ++*answers; }
};

/// Abstract names, and names of files in a directory where everybody may make them.
struct names {
  explicit names(bool abstract) {
    std::filesystem::permissions(folder.file(""), std::filesystem::perms::all);
    at = abstract ? fresh_unix_address() : "unix:" + folder.file("db");
  }
  const testing::scratch_directory folder;
  std::string at;
};

file_descriptor listening_at(const std::string& at) {
  const address to(at);
  file_descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  BOOST_REQUIRE(::bind(fd.get(), to.data(), to.size()) == 0);
  BOOST_REQUIRE(::listen(fd.get(), 5) == 0);
  return fd;
}

const auto refused = [](const boost::system::system_error& e) { return e.code() == system_error_code(EACCES); };

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_root))
BOOST_DATA_TEST_CASE(another_user_that_takes_the_free_name_of_an_offer_gets_no_byte, data::make({true, false}),
                     abstract) {
  const names here(abstract);
  file_descriptor thief;
  as_another_user([&] { thief = listening_at(here.at + ".shm"); });
  running<server> srv(config{.listen = {here.at}}, echo());  // does not offer shared memory
  std::atomic<int> answers{0};
  running<quintet::client> asks(client_config{.connecting = {.upgrade = connection_upgrade::shared_memory}},
                                asking{&answers});
  asks->connect(here.at);
  BOOST_TEST(eventually([&] { return answers == 1; }));
  BOOST_CHECK_EXCEPTION(shared_memory_client c(here.at), boost::system::system_error, refused);
  for (int i = 0; i < 2; ++i) {
    const file_descriptor accepted(::accept4(thief.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char any = 0;
    BOOST_TEST(::recv(accepted.get(), &any, 1, 0) == 0);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(needs_root))
BOOST_DATA_TEST_CASE(a_server_of_another_user_may_offer_memory_beside_its_own_name, data::make({true, false}),
                     abstract) {
  const names here(abstract);
  std::optional<running<server>> srv;
  as_another_user(
      [&] { srv.emplace(config{.listen = {{here.at, {.upgrade = connection_upgrade::shared_memory}}}}, echo()); });
  const auto answer_to = [](shared_memory_client& c) {
    BOOST_TEST(c.send("yes"));
    BOOST_TEST(c.wait());
    BOOST_TEST(!c.end_reason());
    return std::string(c.peek());
  };
  shared_memory_client c(here.at);
  BOOST_TEST(answer_to(c) == "yes");
  BOOST_CHECK_EXCEPTION(shared_memory_client(here.at, {.may_be_server = is_own_user}), boost::system::system_error,
                        refused);
  shared_memory_client told(here.at,
                            {.may_be_server = [](const peer_credentials& p) { return p.user == another_user; }});
  BOOST_TEST(answer_to(told) == "yes");
}

BOOST_DATA_TEST_CASE(a_client_refuses_a_server_before_the_first_byte, data::make({false, true}), asks_for_memory) {
  const auto upgrade = asks_for_memory ? connection_upgrade::shared_memory : connection_upgrade::none;
  const std::string at = fresh_unix_address();
  running<server> srv(config{.listen = {{at, {.upgrade = connection_upgrade::shared_memory}}, "127.0.0.1:0"}}, echo());
  std::atomic<int> answers{0}, asked{0}, others{0}, failed{0};
  std::atomic<int> reasons[2] = {0, 0};
  running<quintet::client> asks(
      client_config{.connecting = {.upgrade = upgrade,
                                   .may_be_server =
                                       [&](const peer_credentials& p) {
                                         others += p.process != ::getpid();
                                         ++asked;
                                         return false;
                                       }},
                    .on_connect_failed = [&](const connect_failure& f) { reasons[failed++] = f.reason.value(); }},
      asking{&answers});
  asks->connect(at);
  BOOST_TEST(eventually([&] { return failed == 1; }));
  BOOST_TEST(reasons[0] == EACCES);
  BOOST_TEST(asked == (asks_for_memory ? 2 : 1));
  BOOST_TEST(others == 0);
  asks->connect("127.0.0.1:" + std::to_string(srv->port()));
  BOOST_TEST(eventually([&] { return failed == 2; }));
  BOOST_TEST(reasons[1] == EOPNOTSUPP);
  BOOST_TEST(answers == 0);
}

}  // namespace
}  // namespace quintet::test
