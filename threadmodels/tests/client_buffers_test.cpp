// SPDX-License-Identifier: BSL-1.0
// client_buffers_test: the kernel's buffers of a client's connections, with and without a bound.
#include <boost/test/unit_test.hpp>

#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <string>
#include <vector>

#include <sys/socket.h>

namespace quintet::test {
namespace {

const auto nothing = [](connection&, bytes) {};
using silent_server = running<server>;

struct buffers {
  int send, receive;
  friend bool operator==(const buffers&, const buffers&) = default;
};
int option(int fd, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}
/// Returns the buffers of this process's sockets that are connected to `there`, in the order of their descriptors.
std::vector<buffers> buffers_to(const address& there) {
  std::vector<buffers> all;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (address(reinterpret_cast<const sockaddr*>(&peer), size) == there)
      all.push_back({option(fd, SO_SNDBUF), option(fd, SO_RCVBUF)});
  }
  return all;
}

std::vector<buffers> connected(client_config c, int links) {
  silent_server there(config{.listen = {"127.0.0.1:0"}, .model = model::single_reactor}, nothing);
  c.model = model::single_reactor;
  client here(c, nothing);
  here.run_in_background();
  for (int i = 0; i < links; ++i) {
    here.connect(there->addresses()[0]);
    BOOST_TEST(eventually([&] { return here.statistics().opened == static_cast<unsigned>(i) + 1; }));
  }
  return buffers_to(there->addresses()[0]);
}

}  // namespace

// The kernel doubles the size that it is given.
BOOST_AUTO_TEST_CASE(those_that_come_when_many_are_open) {
  const std::vector<buffers> all = connected({.memory = {.tuned_sockets = 2}}, 4);
  BOOST_REQUIRE(all.size() == 4U);
  const buffers bounded{131'072, 131'072};
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST((all[i] == bounded) == (i >= 2), "connection " << i);
}

BOOST_AUTO_TEST_CASE(all_of_them) {
  const auto all = connected(
      {.connecting = {.socket = {.send_buffer = 10'000, .receive_buffer = 30'000}}, .memory = {.tuned_sockets = 0}}, 2);
  BOOST_REQUIRE(all.size() == 2U);
  for (const buffers& b : all) BOOST_TEST((b == buffers{20'000, 60'000}));
}

BOOST_AUTO_TEST_CASE(what_may_not_be) {
  BOOST_CHECK_THROW(client(client_config{.connecting = {.socket = {.send_buffer = -1}}}, nothing), config_error);
  BOOST_CHECK_THROW(client(client_config{.connecting = {.socket = {.receive_buffer = -1}}}, nothing), config_error);
}

}  // namespace quintet::test
