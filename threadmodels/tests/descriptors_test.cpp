// SPDX-License-Identifier: BSL-1.0
// descriptors_test: each kind of descriptor, given to attach() or to a listener, and each kind of Unix path, is served
// or reported with its error. Nothing spins, nothing crashes.
// ctest: EACH_ENGINE
#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <future>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;
using testing::scratch_directory;

/// A descriptor of one kind, and the other end if it is a connection.
struct specimen {
  file_descriptor fd;
  file_descriptor other;
};

file_descriptor tcp(int type = SOCK_STREAM) { return file_descriptor(::socket(AF_INET, type | SOCK_CLOEXEC, 0)); }

file_descriptor bound_tcp(bool listens, address& at) {
  at = address("127.0.0.1:0");
  file_descriptor fd = tcp();
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::bind(fd.get(), at.data(), at.size()) != 0 || (listens && ::listen(fd.get(), 8) != 0) ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0)
    throw std::runtime_error("bind");
  at = address(reinterpret_cast<const sockaddr*>(&name), size);
  return fd;
}

specimen pair_of(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
  return {file_descriptor(ends[0]), file_descriptor(ends[1])};
}
specimen non_blocking() {
  specimen s = pair_of(SOCK_STREAM);
  if (::fcntl(s.fd.get(), F_SETFL, O_NONBLOCK) != 0) throw std::runtime_error("fcntl");
  return s;
}
specimen pipe_end(int which) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  return {file_descriptor(ends[which]), file_descriptor(ends[1 - which])};
}
specimen opened(const char* path, int flags) { return {file_descriptor(::open(path, flags | O_CLOEXEC)), {}}; }

specimen connected_tcp() {
  address at;
  const file_descriptor listening = bound_tcp(true, at);
  file_descriptor to = testing::connected_to(at);
  return {file_descriptor(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC)), std::move(to)};
}
specimen listening_tcp() {
  address at;
  return {bound_tcp(true, at), {}};
}
specimen connected_udp() {
  specimen s{tcp(SOCK_DGRAM), {}};
  const address at("127.0.0.1:9");
  if (!testing::connect(s.fd, at)) throw std::runtime_error("connect");
  return s;
}
specimen refused_tcp() {
  address at;
  const file_descriptor reserved = bound_tcp(false, at);
  specimen s{tcp(), {}};
  BOOST_TEST(!testing::connect(s.fd, at));
  return s;
}

struct descriptor_kind {
  const char* name;
  specimen (*make)();
  int attach_error;  ///< 0: the server serves it
  int listen_error;  ///< 0: the server accepts there
  friend std::ostream& operator<<(std::ostream& out, const descriptor_kind& k) { return out << k.name; }
};

const std::array descriptor_kinds{
    descriptor_kind{"a file", [] { return specimen{file_descriptor(::memfd_create("file", MFD_CLOEXEC)), {}}; },
                    ENOTSOCK, EINVAL},
    descriptor_kind{"a directory", [] { return opened("/", O_RDONLY | O_DIRECTORY); }, ENOTSOCK, EINVAL},
    descriptor_kind{"a device", [] { return opened("/dev/null", O_RDWR); }, ENOTSOCK, EINVAL},
    descriptor_kind{"a path", [] { return opened("/", O_PATH); }, ENOTSOCK, EINVAL},
    descriptor_kind{"the end of a pipe that reads", [] { return pipe_end(0); }, ENOTSOCK, EINVAL},
    descriptor_kind{"the end of a pipe that writes", [] { return pipe_end(1); }, ENOTSOCK, EINVAL},
    descriptor_kind{"an eventfd", [] { return specimen{file_descriptor(::eventfd(1, EFD_CLOEXEC)), {}}; }, ENOTSOCK,
                    EINVAL},
    descriptor_kind{"an epoll set", [] { return specimen{file_descriptor(::epoll_create1(EPOLL_CLOEXEC)), {}}; },
                    ENOTSOCK, EINVAL},
    descriptor_kind{"a UDP socket", &connected_udp, EPROTOTYPE, EINVAL},
    descriptor_kind{"a Unix datagram socket", [] { return pair_of(SOCK_DGRAM); }, EPROTOTYPE, EINVAL},
    descriptor_kind{"a Unix packet socket", [] { return pair_of(SOCK_SEQPACKET); }, EPROTOTYPE, EINVAL},
    descriptor_kind{"a new TCP socket", [] { return specimen{tcp(), {}}; }, ENOTCONN, EINVAL},
    descriptor_kind{"a TCP socket whose connect() was refused", &refused_tcp, ENOTCONN, EINVAL},
    descriptor_kind{"a listening socket", &listening_tcp, EINVAL, 0},
    descriptor_kind{"a Unix stream", [] { return pair_of(SOCK_STREAM); }, 0, EINVAL},
    descriptor_kind{"a non-blocking Unix stream", &non_blocking, 0, EINVAL},
    descriptor_kind{"a TCP connection", &connected_tcp, 0, EINVAL},
};

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

config local(model kind) { return {.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 2}}; }

/// Returns whether the loops wait. A loop that spins takes thousands of turns meanwhile, even on a busy machine.
bool is_at_rest(server& srv) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return srv.statistics().turns < 500;
}

std::string attach_and_ask(model kind, server& srv, specimen one, bool serves, std::promise<error_code>& refused) {
  const file_descriptor same(::fcntl(one.fd.get(), F_DUPFD_CLOEXEC, 0));
  srv.attach(nullptr, one.fd.release(), echo(), [&refused](error_code why) { refused.set_value(why); });
  if (!serves) return {};
  client peer = client::over(one.other.release());
  if (!peer.send("ping")) return {};
  const std::string answer = peer.receive(4);
  BOOST_TEST(is_at_rest(srv));
  if (kind == model::thread_per_connection) BOOST_TEST((::fcntl(same.get(), F_GETFL) & O_NONBLOCK) == 0);
  return answer;
}

BOOST_DATA_TEST_CASE(attached, bdata::make(all_models) * bdata::make(descriptor_kinds), kind, what) {
  std::promise<error_code> refused;
  auto told = refused.get_future();
  running<server> srv(local(kind), echo());
  const std::string answer = attach_and_ask(kind, *srv, what.make(), what.attach_error == 0, refused);
  if (what.attach_error == 0) {
    BOOST_TEST(answer == "ping");
  } else {
    BOOST_REQUIRE((told.wait_for(patience) == std::future_status::ready));
    BOOST_TEST(told.get() == system_error_code(what.attach_error));
    BOOST_TEST(is_at_rest(*srv));
  }
  client another(srv->port());
  BOOST_TEST(another.send("pong"));
  BOOST_TEST(another.receive(4) == "pong");
}

BOOST_DATA_TEST_CASE(attached_numbers_without_a_descriptor,
                     bdata::make(all_models) * bdata::make({-1, -7, 1 << 20, 987}), kind, number) {
  std::promise<error_code> refused;
  running<server> srv(local(kind), echo());
  srv->attach(nullptr, number, echo(), [&refused](error_code why) { refused.set_value(why); });
  auto told = refused.get_future();
  BOOST_REQUIRE((told.wait_for(patience) == std::future_status::ready));
  BOOST_TEST(told.get() == system_error_code(EBADF));
  BOOST_TEST(is_at_rest(*srv));
}

// The descriptor belongs to the first connection, which goes on.
BOOST_AUTO_TEST_CASE(attached_twice) {
  specimen one = pair_of(SOCK_STREAM);
  client peer = client::over(one.other.release());
  running<server> srv(local(model::single_reactor), echo());
  std::promise<error_code> refused;
  const int handle = one.fd.release();
  srv->attach(nullptr, handle, echo(), [](error_code) {});
  srv->attach(nullptr, handle, echo(), [&refused](error_code why) { refused.set_value(why); });
  BOOST_TEST(refused.get_future().get() == system_error_code(EEXIST));
  BOOST_TEST(peer.send("ping"));
  BOOST_TEST(peer.receive(4) == "ping");
}

BOOST_DATA_TEST_CASE(listening_on, bdata::make(all_models) * bdata::make(descriptor_kinds), kind, what) {
  const specimen one = what.make();
  config c = local(kind);
  c.listen = {{"", {.descriptor = ::fcntl(one.fd.get(), F_DUPFD_CLOEXEC, 0)}}};
  const file_descriptor left(what.listen_error == 0 ? -1 : c.listen[0].descriptor);
  try {
    running<server> srv(std::move(c), echo());
    BOOST_TEST(what.listen_error == 0);
    client peer(srv->port());
    BOOST_TEST(peer.send("ping"));
    BOOST_TEST(peer.receive(4) == "ping");
    BOOST_TEST(is_at_rest(*srv));
  } catch (const boost::system::system_error& e) {
    BOOST_TEST(e.code() == system_error_code(what.listen_error));
    BOOST_TEST(std::string(e.what()).find("cannot listen on descriptor") != std::string::npos);
  }
}

/// A Unix path of one kind.
struct path_kind {
  const char* name;
  file_descriptor (*make)(const std::string& path);
  int error;
  friend std::ostream& operator<<(std::ostream& out, const path_kind& k) { return out << k.name; }
};

template <int Type, bool Listens>
file_descriptor bound_unix(const std::string& path) {
  const address at("unix:" + path);
  file_descriptor fd(::socket(AF_UNIX, Type | SOCK_CLOEXEC, 0));
  if (::bind(fd.get(), at.data(), at.size()) != 0 || (Listens && ::listen(fd.get(), 0) != 0))
    throw std::runtime_error("bind");
  return fd;
}
file_descriptor left_behind(const std::string& path) {
  bound_unix<SOCK_STREAM, true>(path);
  return {};
}

const std::array path_kinds{
    path_kind{"nothing", [](const std::string&) { return file_descriptor(); }, ENOENT},
    path_kind{"a file",
              [](const std::string& path) { return file_descriptor(::open(path.c_str(), O_CREAT | O_RDWR, 0600)); },
              ECONNREFUSED},
    path_kind{"a directory", [](const std::string& path) { return file_descriptor(::mkdir(path.c_str(), 0700) - 1); },
              ECONNREFUSED},
    path_kind{"a socket whose server has ended", &left_behind, ECONNREFUSED},
    path_kind{"a socket that does not listen", &bound_unix<SOCK_STREAM, false>, ECONNREFUSED},
    path_kind{"a datagram socket", &bound_unix<SOCK_DGRAM, false>, EPROTOTYPE},
    path_kind{"a packet socket", &bound_unix<SOCK_SEQPACKET, true>, EPROTOTYPE},
};

BOOST_DATA_TEST_CASE(connecting_to, bdata::make(all_models) * bdata::make(path_kinds), kind, what) {
  const scratch_directory place;
  const std::string path = place.file("there");
  const file_descriptor there = what.make(path);
  std::promise<error_code> failed;
  client_config c{.model = kind,
                  .on_connect_failed = [&failed](const connect_failure& f) { failed.set_value(f.reason); }};
  quintet::client dials(std::move(c), echo());
  dials.run_in_background();
  dials.connect("unix:" + path);
  auto told = failed.get_future();
  BOOST_REQUIRE((told.wait_for(patience) == std::future_status::ready));
  BOOST_TEST(told.get() == system_error_code(what.error));
  dials.stop();
}

}  // namespace
}  // namespace quintet::test
