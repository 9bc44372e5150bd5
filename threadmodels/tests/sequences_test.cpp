// SPDX-License-Identifier: BSL-1.0
// sequences_test: the random sequences of net/tests/sequences with real threads and sockets, in all five models.
// ctest: EACH_ENGINE LIBS quintet_sequences TIMEOUT 300
#include "sequences/coroutine_program.hpp"
#include "sequences/number_from.hpp"
#include "sequences/reference_model.hpp"

#include "combination.hpp"
#include "running.hpp"

#include <quintet/net/file_descriptor.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace quintet::testing {
namespace {

namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

constexpr std::size_t length = 200;  // steps of a sequence

/// Returns the size of the kernel's buffers. In every second sequence they are so small that output waits in the
/// library.
int socket_buffer(const setting& s) { return s.seed % 2 == 0 ? 4096 : 0; }

/// The client's end of a connection. Sends and receives what is possible without blocking.
struct socket_client {
  file_descriptor socket;
  std::atomic<life*> of{nullptr};
  std::string kept_back;
  std::uint32_t next_command = 0;
  bool reads = true, at_end = false, was_reset = false;
  record_reader reader;
  reference_model::received so_far;
};

/// Stores the lives, the clients and what they have seen. Programs use it from every thread, clients only from the
/// test's thread.
class socket_stage final : public stage {
 public:
  explicit socket_stage(const setting& s) : setting_(s) { model_.draining = model_.stopping = true; }

  life* at(unsigned place) override { return clients_.at(place).of.load(); }
  event_loop* loop(unsigned number) override { return loops_.empty() ? nullptr : loops_[number % loops_.size()]; }
  [[nodiscard]] time_point now() const override { return clock::system().now(); }
  std::string target(bool answers) override { return answers ? address_ : std::string(); }
  void dawdle(unsigned turns) override {
    if (!event_loop::current()) std::this_thread::sleep_for(turns * 20us);
  }
  std::uint64_t arrived(const life&) override { return ~std::uint64_t{0}; }  // unknown: the bytes are in the kernel

  /// Called by the server's side.
  life& life_of(const address& peer, flavour kind);
  void serves(const std::vector<event_loop*>& loops, const address& at) {
    loops_ = loops;
    address_ = at.to_string();
    port_ = at.port();
  }
  /// Called by the test's thread.
  void act(const step& s, connection_registry& registry);
  void receive_all();
  /// Checks the results after the server has ended.
  void check();

 private:
  void act_as_client(socket_client& c, const step& s);
  void connect(socket_client& c, const step& s);
  void deliver(socket_client& c, std::size_t keeps);
  bool receive(socket_client& c, std::size_t most);
  static void leave(socket_client& c, bool resets);
  life& make_life();

  const setting& setting_;
  std::mutex mutex_;
  std::deque<life> lives_;                // guarded by mutex_
  std::map<std::string, life*> by_peer_;  // guarded by mutex_
  std::uint32_t clients_so_far_ = 0;
  std::array<socket_client, places> clients_;
  std::vector<event_loop*> loops_;
  std::string address_;
  std::uint16_t port_ = 0;
  reference_model model_{setting_, *this};
};

life& socket_stage::make_life() {
  life& l = lives_.emplace_back();
  l.number = static_cast<unsigned>(lives_.size());
  l.limits = setting_.limits;
  l.note_limits();
  return l;
}

life& socket_stage::life_of(const address& peer, flavour kind) {
  const std::lock_guard lock(mutex_);
  const auto found = by_peer_.find(peer.to_string());
  life& l = found != by_peer_.end() ? *found->second : make_life();
  l.kind = kind;
  return l;
}

// Binds first, so that the life of the connection is known when the server accepts it. The port of a client that has
// ended may soon be another's, also one of another test's: so each has an address of its own.
void socket_stage::connect(socket_client& c, const step&) {
  if (c.socket) leave(c, false);
  c.socket = file_descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (const int size = socket_buffer(setting_); size > 0)
    ::setsockopt(c.socket.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  const std::uint32_t own = (static_cast<std::uint32_t>(::getpid()) & 0x1FFFU) << 10U | (clients_so_far_++ & 0x3FFU);
  sockaddr_in here{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(0x7F000002U + own)}, .sin_zero = {}};
  socklen_t size = sizeof here;
  ::bind(c.socket.get(), reinterpret_cast<const sockaddr*>(&here), size);
  ::getsockname(c.socket.get(), reinterpret_cast<sockaddr*>(&here), &size);
  {
    const std::lock_guard lock(mutex_);
    life& l = make_life();
    l.has_client = true;
    by_peer_[address(reinterpret_cast<const sockaddr*>(&here), size).to_string()] = &l;
    c.of = &l;
  }
  c.kept_back.clear();
  c.next_command = 0;
  c.reads = true;
  c.at_end = c.was_reset = false;
  c.so_far = {};
  c.reader = {};
  c.reader.on_record = [this, &c](char writer, std::uint32_t sequence, std::size_t) {
    model_.check_record(*c.of.load(), c.so_far, writer, sequence);
  };
  here.sin_port = htons(port_);
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(c.socket.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) c.socket.reset();
}

void socket_stage::leave(socket_client& c, bool resets) {
  life& l = *c.of.load();
  l.client_closed = true;
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  if (resets) ::setsockopt(c.socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  c.socket.reset();
}

void socket_stage::deliver(socket_client& c, std::size_t keeps) {
  const bytes now = bytes(c.kept_back).substr(0, c.kept_back.size() - std::min(keeps, c.kept_back.size()));
  const ssize_t sent = ::send(c.socket.get(), now.data(), now.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) c.kept_back.erase(0, static_cast<std::size_t>(sent));
}

// Returns false if nothing can be received now, or any more.
bool socket_stage::receive(socket_client& c, std::size_t most) {
  std::array<char, 64 * 1024> buffer;  // not initialised: the kernel fills it
  const ssize_t n = ::recv(c.socket.get(), buffer.data(), std::min(buffer.size(), most), MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN && errno != EINTR) c.was_reset = true;  // the next recv() returns 0
  if (n == 0) c.at_end = true;
  if (n <= 0) return false;
  life& l = *c.of.load();
  if (const std::string wrong = c.reader.take(bytes(buffer.data(), static_cast<std::size_t>(n))); !wrong.empty())
    report(l, wrong);
  l.read += static_cast<std::uint64_t>(n);
  return true;
}

void socket_stage::receive_all() {
  for (socket_client& c : clients_)
    if (c.socket && c.reads)
      while (reported().empty() && receive(c, ~std::size_t{0})) {
      }
}

void socket_stage::act_as_client(socket_client& c, const step& s) {
  if (s.what == event::connect) return connect(c, s);
  if (!c.socket) return;
  life& l = *c.of.load();
  switch (s.what) {
    case event::command: {
      const bool is_timed = s.does == action::sleep || s.does == action::pause_for ||
                            s.does == action::sleep_until_deadline || s.does == action::read_by;
      const command line{.sequence = c.next_command++,
                         .does = s.does == action::set_times ? action::reply : s.does,
                         .amount = is_timed ? s.amount % 10 : s.amount};
      c.kept_back += make_line(line, s.extra % 1000);
      if (!l.half_closed) deliver(c, s.extra / 1000);
      return;
    }
    case event::deliver:
      if (!l.half_closed) deliver(c, 0);
      return;
    case event::receive:
      (void)receive(c, 1 + s.amount);
      return;
    case event::reads:
    case event::stops_reading:
      c.reads = s.what == event::reads;
      return;
    case event::half_close:
      l.half_closed = true;
      ::shutdown(c.socket.get(), SHUT_WR);
      return;
    default:
      return leave(c, s.what == event::reset);
  }
}

void socket_stage::act(const step& s, connection_registry& registry) {
  if (actor_of(s.what) == actor::client)
    act_as_client(clients_.at(s.who), s);
  else if (life* const l = clients_.at(s.who).of) {
    const action does = s.does == action::set_times || s.does == action::pause_for ? action::reply : s.does;
    if (s.what == event::post) post_from_outside(*this, *l, registry, does, s.amount);
    if (s.what == event::send) send_from_outside(*this, *l, registry, record_head + s.amount);
    if (s.what == event::close) close_from_outside(*l, registry);
    if (s.what == event::abort) abort_from_outside(*l, registry);
    if (s.what == event::broadcast) broadcast_from_outside(*this, registry, record_head + s.amount);
  }
  if (s.turns > 8) receive_all();
}

// All bytes written before an orderly end have arrived.
void socket_stage::check() {
  for (socket_client& c : clients_) c.reads = true;
  receive_all();
  for (const socket_client& c : clients_) {
    if (!c.socket || !c.at_end || c.was_reset) continue;
    model_.check_tail(*c.of.load(), c.so_far, c.reader.is_within(), false);
  }
  for (const life& l : lives_) {
    if (l.closed > 0) model_.check_reason(l);
    model_.check_remains(l);
  }
  if (programs_alive != 0) report(lives_.front(), "handlers are left");
}

template <class Program>
std::string run(const setting& s, model kind, flavour style) {
  socket_stage stage(s);
  {
    const auto make = [&](const connection_ends& ends) { return Program(stage, stage.life_of(ends.peer, style)); };
    test::running<server> served(config{.listen = {{"127.0.0.1:0", {.socket = {.send_buffer = socket_buffer(s)}}}},
                                        .model = kind,
                                        .threads = {.loops = 3, .workers = {2, 2}},
                                        .limits = s.limits,
                                        .advanced = {.priority = {.without_listener = true}}},
                                 handler_factory(make));
    stage.serves(served->loops(), served->addresses().front());
    for (const step& one : make_steps(s, length)) {
      if (one.what == event::stop) served.stop();
      if (one.what == event::drain) served->drain(100ms);
      stage.act(one, served->connections());
      if (!stage.reported().empty()) break;
    }
    served->drain(100ms);
    std::atomic<bool> over = false;
    std::thread ending([&] {
      served.join();
      over = true;
    });
    while (!over) {
      stage.receive_all();
      std::this_thread::yield();
    }
    ending.join();
  }
  stage.check();
  return stage.reported();
}

void try_seeds(model kind, unsigned number, bool coroutines) {
  const std::uint64_t only = number_from("QUINTET_SEQUENCE_SEED", 0);
  const std::uint64_t count = only != 0 ? 1 : number_from("QUINTET_SOCKET_SEQUENCES", 20);
  for (std::uint64_t seed = only != 0 ? only : 1, n = 0; n < count; ++n, ++seed) {
    setting s = make_setting(seed, number);
    s.limits.first_byte_timeout = s.limits.idle_timeout = s.limits.send_timeout = s.limits.message_timeout = 0s;
    const std::string wrong =
        coroutines ? run<coroutine_program>(s, kind, flavour::coroutine) : run<full_program>(s, kind, flavour::full);
    BOOST_TEST(wrong.empty(), wrong << "; QUINTET_SEQUENCE_SEED=" << seed << " has the same steps");
    if (!wrong.empty()) return;
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(on_sockets, data::make(test::all_combinations), c) {
  const auto number = static_cast<unsigned>(std::ranges::find(all_models, c.kind) - all_models.begin());
  try_seeds(c.kind, number + 1, c.is_coroutine());
}

}  // namespace quintet::testing
