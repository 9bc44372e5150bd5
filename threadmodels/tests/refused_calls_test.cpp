// SPDX-License-Identifier: BSL-1.0
// refused_calls_test: the system refuses a call of a server or a client. Whoever wanted something learns of it, with
// the system's error, and the next one is served. The table asks that for each kind of call site.
// ctest: EACH_ENGINE TIMEOUT 300
#include "client.hpp"
#include "combination.hpp"
#include "completion_faults.hpp"
#include "forked.hpp"
#include "system_call_trap.hpp"
#include "waiting.hpp"

#include <quintet/net/options/loop_options.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace quintet::test {
namespace {

namespace bdata = boost::unit_test::data;

// ---- The trap -------------------------------------------------------------------------------------------------------

enum class side { any, listener, connection };

/// A call site: the number of its system call, its operation, and the socket that it concerns.
struct call_site {
  const char* name;
  long number;
  long operation = -1;  ///< the second argument; -1: any
  side of = side::any;
  int error = ENOMEM;
  int but = 0;  ///< so many calls succeed before
};

// Read in a signal handler of the trapped threads.
const call_site* site = nullptr;
std::atomic<int> skip{0}, left{0}, refused{0};

bool is_of_this_side(int fd) noexcept {
  const auto word = [](const void* p) { return reinterpret_cast<long>(p); };
  int value = 0;
  socklen_t size = sizeof value;
  if (site->of == side::listener)
    return untrapped(SYS_getsockopt, {fd, SOL_SOCKET, SO_ACCEPTCONN, word(&value), word(&size), 0}) == 0 && value == 1;
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  return site->of == side::any || untrapped(SYS_getpeername, {fd, word(&peer), word(&length), 0, 0, 0}) == 0;
}

// A request to an io_uring: `operation` is its own, and the refusal is its completion.
const completion_fault* choose(std::uint8_t operation) noexcept {
  static completion_fault fault{};
  fault.result = -site->error;
  if (operation != site->operation || left <= 0 || left-- <= 0) return nullptr;
  ++refused;
  return &fault;
}

long decide(const trapped_call& call) noexcept {
  if (site->number == SYS_io_uring_enter) return make_ring_call(call, &choose);
  const int fd = static_cast<int>(call.arguments[call.number == SYS_epoll_ctl ? 2 : 0]);
  const bool meant = left > 0 && (site->operation < 0 || call.arguments[1] == site->operation) && is_of_this_side(fd);
  if (!meant || skip-- > 0 || left-- <= 0) return untrapped(call.number, call.arguments);
  ++refused;
  return -site->error;
}

/// The next `times` calls of the site fail, after `but` more calls.
void refuse_calls(int times, int but = 0) {
  skip = but;
  left = times;
}

// ---- Servers and clients whose calls are trapped --------------------------------------------------------------------

/// What the library has told.
struct journal {
  void note(const log_event& e) {
    const std::lock_guard lock(mutex_);
    lines_ += to_string(e) + "\n";
  }
  [[nodiscard]] bool has(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return lines_.find(text) != lines_.npos;
  }

 private:
  mutable std::mutex mutex_;
  std::string lines_;
};

struct handler_events {
  std::promise<error_code> closed;
  std::atomic<connection_registry*> registry{nullptr};
};

/// Echoes. After "long" it answers more than a socket takes; after "stop" it reads nothing more.
struct trial_handler {
  handler_events* all;
  void operator()(connection& c, bytes in) const {
    if (in == "long") return void(c.write(std::string(std::size_t{2} << 20U, 'x')));
    c.write(in);
    if (in == "stop") c.pause_reading();
  }
  void on_close(connection&, error_code why) const {
    if (why && why != errc::stopped && why != errc::end_of_stream) all->closed.set_value(why);
  }
};

/// Runs f(object) on a thread whose calls are trapped, and whose object is made there.
template <class Object>
class trapped {
 public:
  template <class Make>
  explicit trapped(Make make) {
    std::promise<Object*> made;
    auto object = made.get_future();
    thread_ = std::thread([&made, make] {
      if (site->number == SYS_io_uring_enter)
        trap_calls(ring_calls, &decide);
      else
        trap_calls(std::array{site->number}, &decide);
      const std::unique_ptr<Object> one = make();
      made.set_value(one.get());
      one->run();
    });
    object_ = object.get();
  }
  ~trapped() {
    left = 0;
    object_->stop();
    thread_.join();
  }
  trapped(const trapped&) = delete;
  trapped& operator=(const trapped&) = delete;
  Object* operator->() const noexcept { return object_; }

 private:
  Object* object_ = nullptr;
  std::thread thread_;
};

using trial_server = server;

struct world {
  explicit world(model kind, const config& base = {})
      : served([this, kind, base] {
          config c = base;
          c.listen = {{"127.0.0.1:0", {.socket = {.send_buffer = 16 * 1024}}}};
          c.model = kind;
          c.threads.loops = 2;
          c.log = [this](const log_event& e) { told.note(e); };
          return std::make_unique<trial_server>(std::move(c), trial_handler{&events});
        }) {}
  journal told;
  handler_events events;
  trapped<trial_server> served;
};

/// Returns from the scenario with a failure that names the line.
#define QUINTET_MUST(condition)                                            \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                            \
    }                                                                      \
  } while (false)

bool serves(std::uint16_t port) {
  client c(port);
  return c.send("next") && c.receive(4) == "next";
}
std::string injected() { return system_error_code(site->error).message(); }

// ---- Scenarios, each in a process of its own ------------------------------------------------------------------------

int opens_an_accepted_connection(model kind) {
  world w(kind);
  for (const int but : {0, 1}) {
    const auto before = w.served->statistics().accept_errors;
    refuse_calls(1, but);
    for (int i = 0; i < but; ++i) QUINTET_MUST(serves(w.served->port()));
    client lost(w.served->port());
    QUINTET_MUST(lost.receive(1).empty());
    QUINTET_MUST(refused == but + 1);
    QUINTET_MUST(eventually([&] { return w.served->statistics().accept_errors == before + 1; }));
    QUINTET_MUST(w.told.has("cannot open a connection") && w.told.has(injected()));
    QUINTET_MUST(serves(w.served->port()));
  }
  return 0;
}

// Without the address, port() would be 0: a server that nobody can find.
int learns_where_it_listens(model kind) {
  for (const bool fails : {true, false}) {
    int result = -1;  // the error that the constructor throws, or 0 if the server knows its port
    std::thread([&] {
      handler_events events;
      trap_calls(std::array{site->number}, &decide);
      if (fails) refuse_calls(1);
      try {
        const trial_server s(config{.listen = {"127.0.0.1:0"}, .model = kind}, trial_handler{&events});
        result = s.port() != 0 ? 0 : -1;
      } catch (const boost::system::system_error& e) {
        result = e.code().value();
      }
    }).join();
    QUINTET_MUST(result == (fails ? site->error : 0));
  }
  return 0;
}

int opens_an_attached_connection(model kind) {
  world w(kind);
  for (const bool fails : {true, false}) {
    int ends[2];
    QUINTET_MUST(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    client peer = client::over(ends[0]);
    std::promise<error_code> told;
    if (fails) refuse_calls(1);
    w.served->attach(nullptr, ends[1], trial_handler{&w.events}, [&told](error_code why) { told.set_value(why); });
    if (fails) {
      QUINTET_MUST(told.get_future().get() == system_error_code(site->error));
      QUINTET_MUST(peer.receive(1).empty());
    } else {
      QUINTET_MUST(peer.send("next") && peer.receive(4) == "next");
    }
  }
  return 0;
}

int opens_a_connection_of_a_client(model kind) {
  handler_events events;
  trial_server upstream(config{.listen = {"127.0.0.1:0"}}, trial_handler{&events});
  std::thread runs([&] { upstream.run(); });
  const std::shared_ptr<void> ends(nullptr, [&](void*) {
    upstream.stop();
    runs.join();
  });
  std::promise<error_code> failed;
  std::atomic<int> failures{0}, opened{0};
  struct opener {
    std::atomic<int>* count;
    void on_open(connection&) const { ++*count; }
    void operator()(connection&, bytes) const {}
  };
  using dialler = quintet::client;
  const trapped<dialler> dials([&] {
    client_config c{.model = kind, .reconnect = reconnect_options{}};
    c.on_connect_failed = [&](const connect_failure& f) {
      if (failures++ == 0) failed.set_value(f.reason);
    };
    return std::make_unique<dialler>(std::move(c), opener{&opened});
  });
  refuse_calls(1, site->but);
  dials->connect("127.0.0.1:" + std::to_string(upstream.port()));
  QUINTET_MUST(failed.get_future().get() == system_error_code(site->error));
  QUINTET_MUST(eventually([&] { return opened == 1; }));
  QUINTET_MUST(refused == 1 && failures == 1);
  return 0;
}

int resumes_a_held_listener(model kind, accept_strategy by) {
  const world w(kind, {.accepting = {.max_connections = 1}, .advanced = {.accept = by}});
  client first(w.served->port());
  QUINTET_MUST(first.send("next") && first.receive(4) == "next");
  client waits(w.served->port());
  QUINTET_MUST(waits.send("next"));
  refuse_calls(3);
  first.close();
  QUINTET_MUST(waits.receive(4) == "next");
  waits.close();
  QUINTET_MUST(serves(w.served->port()));
  QUINTET_MUST(refused > 0);
  QUINTET_MUST(eventually([&] { return w.served->statistics().accept_errors == static_cast<unsigned>(refused); }));
  QUINTET_MUST(w.told.has("cannot accept") && w.told.has(injected()));
  return 0;
}
int resumes_one_listener(model kind) { return resumes_a_held_listener(kind, accept_strategy::main_reactor); }
int resumes_shared_listeners(model kind) { return resumes_a_held_listener(kind, accept_strategy::exclusive); }

int changes_the_interest(model kind, std::string_view request) {
  world w(kind);
  client c(w.served->port());
  QUINTET_MUST(c.send("next") && c.receive(4) == "next");
  refuse_calls(1);
  QUINTET_MUST(c.send(request));
  QUINTET_MUST(w.events.closed.get_future().get() == system_error_code(site->error));
  (void)c.receive_rest();
  QUINTET_MUST(refused == 1);
  QUINTET_MUST(serves(w.served->port()));
  return 0;
}
int waits_for_room(model kind) { return changes_the_interest(kind, "long"); }
int stops_reading(model kind) { return changes_the_interest(kind, "stop"); }

bool has_sets(model kind, engine_kind e) { return kind != model::thread_per_connection && e != engine_kind::uring; }
// Boost.Asio ignores the result of EPOLL_CTL_MOD, which needs no resources of the kernel.
bool has_epoll(model kind, engine_kind e) { return kind != model::thread_per_connection && e == engine_kind::epoll; }
bool listens_by_epoll(model, engine_kind e) { return e == engine_kind::epoll; }
bool shares_by_epoll(model kind, engine_kind e) {
  return e == engine_kind::epoll && (kind == model::loop_per_thread || kind == model::loop_per_thread_pool);
}
bool connects_by_epoll(model, engine_kind e) { return e != engine_kind::uring; }
bool connects_by_ring(model, engine_kind e) { return e == engine_kind::uring && can_fail_completions(); }
bool blocks(model kind, engine_kind) { return kind == model::thread_per_connection; }

struct refusal {
  call_site at;
  int (*run)(model kind);
  bool (*applies)(model kind, engine_kind engine) = nullptr;  ///< empty: everywhere
};

// Call sites that these rows refuse, for check_system_calls. ADD and MOD: net/engine/epoll_engine.cpp: epoll_ctl,
// net/engine/epoll_engine.cpp: epoll_ctl. The mode of a handle, got and set, and whether it exists:
// net/engine/kernel_sockets.cpp: fcntl, net/engine/kernel_sockets.cpp: fcntl, net/engine/kernel_sockets.cpp: fcntl. A
// client's: net/engine/kernel_sockets.cpp: socket, net/engine/kernel_sockets.cpp: connect,
// net/engine/kernel_sockets.cpp: getsockopt.
constexpr std::array table{
    refusal{{"watch an accepted connection", SYS_epoll_ctl, EPOLL_CTL_ADD, side::connection, ENOSPC},
            &opens_an_accepted_connection,
            &has_sets},
    refusal{{"watch an attached connection", SYS_epoll_ctl, EPOLL_CTL_ADD, side::connection, ENOSPC},
            &opens_an_attached_connection,
            &has_sets},
    refusal{{"watch a client's connection", SYS_epoll_ctl, EPOLL_CTL_ADD, side::any, ENOSPC, 1},
            &opens_a_connection_of_a_client,
            &has_sets},
    refusal{{"watch a socket that connects", SYS_epoll_ctl, EPOLL_CTL_ADD, side::any, ENOMEM},
            &opens_a_connection_of_a_client,
            &connects_by_epoll},
    refusal{{"ask for the mode of an accepted connection", SYS_fcntl, F_GETFL, side::connection},
            &opens_an_accepted_connection,
            &blocks},
    refusal{{"ask for the mode of an attached connection", SYS_fcntl, F_GETFL, side::connection},
            &opens_an_attached_connection},
    refusal{{"ask where a socket listens", SYS_getsockname, -1, side::listener, ENOBUFS}, &learns_where_it_listens},
    refusal{{"watch a listener again", SYS_epoll_ctl, EPOLL_CTL_ADD, side::listener, ENOSPC},
            &resumes_one_listener,
            &listens_by_epoll},
    refusal{{"watch a shared listener again", SYS_epoll_ctl, EPOLL_CTL_ADD, side::listener, ENOSPC},
            &resumes_shared_listeners,
            &shares_by_epoll},
    refusal{{"wait for room to send", SYS_epoll_ctl, EPOLL_CTL_MOD, side::connection}, &waits_for_room, &has_epoll},
    refusal{{"stop reading", SYS_epoll_ctl, EPOLL_CTL_MOD, side::connection}, &stops_reading, &has_epoll},
    refusal{{"poll a socket that connects", SYS_io_uring_enter, 6 /* IORING_OP_POLL_ADD */},
            &opens_a_connection_of_a_client,
            &connects_by_ring},
    refusal{{"create a socket", SYS_socket, -1, side::any, EMFILE}, &opens_a_connection_of_a_client},
    refusal{{"connect", SYS_connect, -1, side::any, EADDRNOTAVAIL}, &opens_a_connection_of_a_client},
    refusal{{"ask whether connecting succeeded", SYS_getsockopt, SOL_SOCKET, side::connection},
            &opens_a_connection_of_a_client},
    refusal{{"make a connected socket blocking", SYS_fcntl, F_SETFL, side::connection},
            &opens_a_connection_of_a_client},
};

boost::test_tools::assertion_result trap_works(boost::unit_test::test_unit_id) { return can_trap(); }

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(trap_works))
BOOST_DATA_TEST_CASE(who_asked_is_told, bdata::make(all_models) * bdata::xrange(table.size()), kind, number) {
  const refusal& what = table[number];
  if (what.applies && !what.applies(kind, detail::resolve(engine_kind::automatic))) return;
  site = &what.at;
  forked child([&] { return what.run(kind); });
  const auto status = child.wait_for(patience);
  BOOST_TEST(status.has_value(), what.at.name << ", " << kind << ": nobody is told, or nobody is served any more");
  if (status) BOOST_TEST(*status == 0, what.at.name << ", " << kind << ": wait status " << *status);
}

}  // namespace
}  // namespace quintet::test
