// SPDX-License-Identifier: BSL-1.0
// refused_starts_test: each system call of a server's start is refused once, the first, the second and so on. The
// constructor or run() throws the system's error, or the server serves without what the call was for; the next server
// starts. The rows name call sites, see check_system_calls. ThreadSanitizer starts threads with all signals blocked,
// also the one of a trapped call.
// ctest: EACH_ENGINE TIMEOUT 300 NOT_UNDER thread
#include "../../net/tests/support/sockets.hpp"
#include "client.hpp"
#include "combination.hpp"
#include "forked.hpp"
#include "system_call_trap.hpp"
#include "waiting.hpp"

#include <quintet/net/options/loop_options.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;

enum class listens_at : std::uint8_t { tcp, unix_path };

struct start_call {
  const char* sites;  ///< as check_system_calls names them
  long number;
  int error;
  bool must_tell = false;  ///< a server cannot serve without it
  listens_at where = listens_at::tcp;
  bool repeats = false;  ///< the server makes the call again, and serves
};

constexpr std::array table{
    start_call{"net/engine/epoll_engine.cpp: epoll_create1", SYS_epoll_create1, EMFILE, true},
    start_call{"net/engine/epoll_engine.cpp: epoll_ctl", SYS_epoll_ctl, ENOSPC, true},
    start_call{"net/engine/wake_event.hpp: eventfd, net/server/resource_reserve.cpp: eventfd", SYS_eventfd2, EMFILE},
    start_call{"net/engine/uring/io_ring.cpp: io_uring_queue_init_params", SYS_io_uring_setup, ENOMEM},
    start_call{"net/engine/uring/buffers.cpp: io_uring_register_buf_ring", SYS_io_uring_register, ENOMEM},
    start_call{"net/engine/kernel_sockets.cpp: socket", SYS_socket, EMFILE},
    start_call{"net/engine/kernel_sockets.cpp: bind", SYS_bind, EACCES, true},
    start_call{"net/engine/kernel_sockets.cpp: bind", SYS_bind, EADDRINUSE, false, listens_at::tcp, true},
    start_call{"net/engine/kernel_sockets.cpp: listen", SYS_listen, EADDRINUSE, true},
    start_call{"net/engine/kernel_sockets.cpp: setsockopt", SYS_setsockopt, ENOMEM},
    start_call{"net/server/acceptor_group.cpp: fcntl", SYS_fcntl, EMFILE},
    start_call{"net/engine/unix_path.cpp: socket", SYS_socket, EMFILE, false, listens_at::unix_path},
    start_call{"net/engine/unix_path.cpp: flock", SYS_flock, ENOLCK, false, listens_at::unix_path},
    start_call{"net/engine/unix_path.cpp: bind", SYS_bind, EACCES, true, listens_at::unix_path},
    start_call{"net/engine/unix_path.cpp: listen", SYS_listen, EADDRINUSE, true, listens_at::unix_path},
    start_call{"net/engine/unix_path.cpp: open, net/engine/unix_path.cpp: open", SYS_openat, EMFILE, false,
               listens_at::unix_path},
    start_call{"net/engine/unix_path.cpp: fchmod", SYS_fchmod, EPERM, false, listens_at::unix_path},
};

// Read in a signal handler of the trapped threads.
const start_call* row = nullptr;
std::atomic<int> skip{0}, left{0};

long decide(const trapped_call& call) noexcept {
  const bool is_meant = call.number != SYS_epoll_ctl || call.arguments[1] == EPOLL_CTL_ADD;
  if (!is_meant || left <= 0 || skip-- > 0 || left-- <= 0) return untrapped(call.number, call.arguments);
  return -row->error;
}

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};
using echo_server = server;

struct start {
  std::atomic<echo_server*> runs{nullptr};
  std::atomic<bool> has_ended{false}, has_stopped{false};
  error_code told;
};

/// Runs a server whose calls are trapped while it starts; `but` calls succeed before one fails.
void run_trapped(start& what, const config& c, int but) {
  trap_calls(std::array{row->number}, &decide);
  skip = but;
  left = 1;
  try {
    bool goes = false;  // outlives the server, whose destructor runs posted functions
    echo_server srv(c, echo());
    srv.main_loop().post([&]() noexcept { what.runs = goes ? nullptr : &srv; });
    const std::shared_ptr<void> before_it_goes(nullptr, [&](void*) { goes = true; });
    srv.run();
    (void)eventually([&] { return what.has_stopped.load(); });  // stop() may still use the server
  } catch (const boost::system::system_error& failed) {
    what.told = failed.code();
  }
  what.has_ended = true;
}

bool serves(const address& at) {
  file_descriptor fd(::socket(at.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!testing::connect(fd, at)) return false;
  client c = client::over(fd.release());
  return c.send("next") && c.receive(4) == "next";
}

enum class outcome : std::uint8_t { nothing_was_refused, right, wrong };

outcome start_once(const config& c, int but) {
  start now;
  std::thread trapped([&] { run_trapped(now, c, but); });
  (void)eventually([&] { return now.runs != nullptr || now.has_ended; });
  const bool is_refused = left.exchange(0) <= 0;
  const bool is_served = now.runs != nullptr && serves(now.runs.load()->addresses().front());
  if (now.runs != nullptr && !now.has_ended) now.runs.load()->stop();
  now.has_stopped = true;
  trapped.join();
  const bool is_told = now.told == system_error_code(row->error);
  if (!is_refused) return is_served ? outcome::nothing_was_refused : outcome::wrong;
  if ((is_told && !row->repeats) || (is_served && !now.told && !row->must_tell)) return outcome::right;
  std::fprintf(stderr, "call %d: told '%s', %s\n", but + 1, now.told.message().c_str(),
               is_served ? "serves" : "silent");
  return outcome::wrong;
}

constexpr int never_called = 3;

int refuse_each(model kind, const std::string& at) {
  listen_options listener{at};
  if (row->where == listens_at::unix_path) listener.mode = 0600;
  const config c{.listen = {listener},
                 .model = kind,
                 .threads = {.loops = 2, .workers = {1, 1}},
                 .advanced = {.accept = accept_strategy::exclusive, .accept_strictly = false}};
  for (int but = 0; but < 100; ++but) {
    const outcome seen = start_once(c, but);
    if (seen == outcome::wrong) return 1;
    if (seen == outcome::nothing_was_refused) return but > 0 ? 0 : never_called;
  }
  return 2;
}

boost::test_tools::assertion_result trap_works(boost::unit_test::test_unit_id) { return can_trap(); }

std::array<bool, table.size()> was_refused{};

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(trap_works))
BOOST_DATA_TEST_CASE(the_caller_is_told_or_the_server_serves, bdata::make(all_models) * bdata::xrange(table.size()),
                     kind, number) {
  row = &table[number];
  const testing::scratch_directory folder;
  const std::string path = "unix:" + folder.file("socket");
  forked child([&] { return refuse_each(kind, row->where == listens_at::tcp ? "127.0.0.1:0" : path); });
  const auto status = child.wait_for(patience);
  BOOST_TEST(status.has_value(), row->sites << ", " << kind << ": a server does not start or end");
  const bool is_called = status && *status == 0;
  if (status)
    BOOST_TEST((is_called || *status == W_EXITCODE(never_called, 0)),
               row->sites << ", " << kind << ": wait status " << *status);
  was_refused[number] = was_refused[number] || is_called;
}

// A row whose call does not exist says nothing. The calls of a ring exist on its engine only, and the others' do not.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(trap_works))
BOOST_AUTO_TEST_CASE(each_row_was_tried) {
  const engine_kind engine = detail::resolve(engine_kind::automatic);
  const bool has_ring = engine == engine_kind::uring;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string_view sites = table[i].sites;
    bool exists = !has_ring || sites.find("epoll") == sites.npos;
    if (sites.find("/uring/") != sites.npos) exists = has_ring;
    if (sites.find("acceptor_group") != sites.npos) exists = engine == engine_kind::epoll;  // shares a listener
    BOOST_TEST((was_refused[i] || !exists), sites << ": no model makes this call");
  }
}

}  // namespace
}  // namespace quintet::test
