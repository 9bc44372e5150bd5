// SPDX-License-Identifier: BSL-1.0
// hearing: when handlers hear of resets, deadlines and drains. benchmarks/hearing/measure runs it and has the bounds.
#include <quintet/net/asio.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace quintet;
using namespace std::chrono_literals;
using asio::ip::tcp;
using std::chrono::steady_clock;

using ms = std::chrono::duration<double, std::milli>;

constexpr auto patience = 20s;  // what takes longer has failed

// Ends the process: a handler that hears nothing would hold up its server's end.
void require(bool holds, const char* otherwise) {
  if (holds) return;
  std::cerr << "quintet-hearing: " << otherwise << std::endl;
  std::_Exit(1);
}

template <class Condition>
void wait_until(Condition holds, const char* otherwise) {
  for (const auto end = steady_clock::now() + patience; !holds(); std::this_thread::sleep_for(200us))
    require(steady_clock::now() < end, otherwise);
}

/// [any thread] Counts, and keeps the time of the last.
class tally {
 public:
  /// Returns the count before.
  std::size_t add() {
    const auto now = steady_clock::now();
    const std::lock_guard lock(mutex_);
    last_ = std::max(last_, now);
    changed_.notify_all();
    return count_++;
  }
  /// Waits for so many, and returns the time of the last.
  steady_clock::time_point await(std::size_t count, const char* otherwise) {
    std::unique_lock lock(mutex_);
    require(changed_.wait_for(lock, patience, [&] { return count_ >= count; }), otherwise);
    return last_;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
  steady_clock::time_point last_{};
};

template <class Handler>
std::unique_ptr<server> start(model kind, unsigned threads, Handler handler) {
  config c{.listen = {"127.0.0.1:0"}, .model = kind};
  c.threads = {.loops = 1, .workers = {threads, threads}, .offload = {offload_policy::always}, .helpers = threads};
  auto srv = std::make_unique<server>(c, std::move(handler));
  srv->run_in_background();
  return srv;
}

asio::io_context outside;  // of the clients, which block

tcp::socket connect_to(const server& srv) {
  tcp::socket peer(outside);
  peer.connect({asio::ip::address_v4::loopback(), srv.port()});
  return peer;
}

void send(tcp::socket& peer, const std::string& data) { asio::write(peer, asio::buffer(data)); }

void reset(tcp::socket& peer) {
  peer.set_option(asio::socket_base::linger(true, 0));
  peer.close();
}

// ---- reset: from the peer's reset until the handler knows -----------------------------------------------------------

struct trial {
  std::string where, how;  // "sleep", "function", "callback", "asking..."; "on", "paused", "full": the reading
  tally begun = {}, heard = {};

  /// A handler that runs on its loop, which hears nothing meanwhile, asks the system.
  void work(connection& c, const cancel_token& token) {
    begun.add();
    while (!(where.starts_with("asking") ? c.look_for_end() : token)) {
    }
    heard.add();
  }
};

awaitable<> await_reset(stream& s, trial& t) {
  const auto request = co_await s.read();
  if (!request) co_return;
  if (t.how == "paused") s.pause_reading();
  if (t.where != "sleep") {
    co_await s.offload([&](const cancel_token& token) { t.work(s, token); });
  } else {
    t.begun.add();
    (void)co_await sleep_for(24h);
    t.heard.add();
  }
}

/// Prints the milliseconds of each.
void measure_resets(model kind, const std::string& where, const std::string& how, std::size_t count) {
  trial t{where, how};
  const auto call = [&t](connection& c, bytes in) {
    if (in[0] == 'g') t.work(c, c.cancelled());  // the rest is of the same request
  };
  const auto coroutine = [&t](stream& s) { return await_reset(s, t); };
  const auto srv = where.ends_with("callback") ? start(kind, 1, call) : start(kind, 1, coroutine);
  for (std::size_t n = 1; n <= count; ++n) {
    auto peer = connect_to(*srv);
    const auto before = srv->statistics().bytes_received;
    send(peer, "go\n");
    t.begun.await(n, "a handler does not begin");
    if (t.how == "full") {
      send(peer, std::string(100'000, 'x'));
      wait_until([&] { return srv->statistics().bytes_received >= before + 64 * 1024; }, "64 KiB do not arrive");
    }
    std::this_thread::sleep_for(500us);  // the loop sleeps as well
    const auto begun = steady_clock::now();
    reset(peer);
    std::cout << ms(t.heard.await(n, "a handler does not hear of a reset") - begun).count() << std::endl;
  }
}

// ---- queued: what begins although nobody waits for it ---------------------------------------------------------------

struct backlog {
  duration limit;  // of each function; zero: its client resets
  tally queued = {}, begun = {}, opened = {};
  void run() {
    if (begun.add() == 0) opened.await(1, "the first handler is not released");
  }
};

struct queued_callback {
  backlog* b;
  void on_open(connection& c) const {
    c.cancel_on({cancel_reason::peer_finished, cancel_reason::peer_reset});
    b->queued.add();
  }
  void operator()(connection&, bytes) const { b->run(); }
};

awaitable<> queued_function(stream& s, backlog& b) {
  b.queued.add();
  const auto request = co_await s.read();
  if (!request) co_return;
  const auto limit = s.with_deadline(b.limit == 0s ? time_point::max() : s.loop().now() + b.limit);
  try {
    co_await s.offload([&b] { b.run(); });
  } catch (const boost::system::system_error&) {  // it has not begun
  }
}

/// Prints how many have begun, and how many were skipped.
void measure_backlog(model kind, const std::string& what, std::size_t count) {
  backlog b{what == "deadline" ? duration(500ms) : 0s};
  const auto srv = what == "callback" ? start(kind, 1, queued_callback{&b})
                                      : start(kind, 1, [&b](stream& s) { return queued_function(s, b); });
  std::vector<tcp::socket> clients;
  while (clients.size() <= count) {
    clients.push_back(connect_to(*srv));
    b.queued.await(clients.size(), "a connection does not open");
  }
  send(clients.front(), "x");
  b.begun.await(1, "the first handler does not begin");
  std::for_each(clients.begin() + 1, clients.end(), [](tcp::socket& peer) { send(peer, "x"); });
  wait_until([&] { return srv->statistics().batches > count; }, "requests do not arrive");
  std::this_thread::sleep_for(2 * b.limit);
  if (b.limit == 0s) std::for_each(clients.begin() + 1, clients.end(), reset);
  for (std::size_t turn = 2; turn < 5; ++turn) {  // the loop has heard what came before
    clients.push_back(connect_to(*srv));
    wait_until([&] { return srv->statistics().opened >= count + turn; }, "a connection is not accepted");
  }
  b.opened.add();
  wait_until([&] { return srv->statistics().skipped + b.begun.count() > count; }, "a request is lost");
  std::cout << b.begun.count() - 1 << ' ' << srv->statistics().skipped << std::endl;
}

// ---- drain: until all that wait have heard it -----------------------------------------------------------------------

struct drill {
  bool slices;           // work into slices, since the thread of model 1 hears nothing in a function
  tcp::endpoint silent;  // accepts and says nothing
  tally waiting = {}, heard = {};
};

awaitable<> wait(stream& s, drill& d, char what) {
  if (what == 'a') {
    tcp::socket upstream(s.get_executor());
    upstream.connect(d.silent);
    char reply = 0;
    d.waiting.add();
    co_await upstream.async_read_some(asio::buffer(&reply, 1), asio::deferred);
  } else if (what == 'f' && !d.slices) {
    co_await s.offload([&d](const cancel_token& token) {
      d.waiting.add();
      while (!token) std::this_thread::sleep_for(200us);
    });
  } else {
    d.waiting.add();
    while (!s.cancelled()) {
      if (what == 'f') co_await s.offload([] { std::this_thread::sleep_for(200us); });
      (void)co_await sleep_for(what == 's' ? duration(24h) : what == 'f' ? 0s : duration(3ms));
    }
  }
}

awaitable<> attend(stream& s, drill& d) {
  const auto request = co_await s.read();
  if (!request) co_return;
  s.cancel_on({cancel_reason::drain, cancel_reason::peer_reset});
  try {
    co_await wait(s, d, request->front());
  } catch (const boost::system::system_error&) {  // of Asio
  }
  if (s.cancelled().why() == cancel_reason::drain) d.heard.add();
  s.write("bye\n");
}

/// Prints the milliseconds until all have heard, and until run() has ended.
void measure_drain(model kind, std::size_t count) {
  const tcp::acceptor silent(outside, {asio::ip::address_v4::loopback(), 0});
  drill d{kind == model::thread_per_connection, silent.local_endpoint()};
  const auto srv = start(kind, unsigned(count / 4) + 1, [&d](stream& s) { return attend(s, d); });
  std::vector<tcp::socket> clients;
  for (std::size_t n = 0; n < count; ++n) send(clients.emplace_back(connect_to(*srv)), {"safr"[n % 4]});
  d.waiting.await(count, "not all coroutines wait");
  std::this_thread::sleep_for(5ms);
  const auto begun = steady_clock::now();
  srv->drain(5s);
  for (tcp::socket& peer : clients) {
    std::string reply;
    error_code end;
    asio::read(peer, asio::dynamic_buffer(reply), end);
    require(reply == "bye\n" && end == asio::error::eof, "a client has not read its reply");
    peer.close();
  }
  srv->join();
  const ms ended = steady_clock::now() - begun, heard = d.heard.await(count, "not all have heard of the drain") - begun;
  std::cout << heard.count() << ' ' << ended.count() << std::endl;
}

// ---- serve: an echo that waits for 1 ms, whose system calls the script counts ---------------------------------------

awaitable<> pause_and_echo(stream& s, const std::string& how) {
  asio::steady_timer timer(s.get_executor());
  while (const auto in = co_await s.read()) {
    if (how == "sleep") (void)co_await sleep_for(1ms);
    if (how == "asio") {
      timer.expires_after(1ms);
      co_await timer.async_wait(asio::deferred);
    }
    s.write(*in);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const auto kind = argc > 3 ? from_string(argv[2]) : std::nullopt;
  require(kind.has_value(), "for benchmarks/hearing/measure, whose --help says what can be measured");
  const std::string what = argv[1], first = argv[3];
  const std::size_t count = std::strtoul(argv[argc - 1], nullptr, 10);
  if (what == "reset" && argc == 6) measure_resets(*kind, first, argv[4], count);
  if (what == "queued" && argc == 5) measure_backlog(*kind, first, count);
  if (what == "drain") measure_drain(*kind, count);
  if (what == "serve") {
    const auto srv = start(*kind, 1, [&first](stream& s) { return pause_and_echo(s, first); });
    std::cout << srv->port() << std::endl;
    std::cin.get();  // until the script ends it
  }
} catch (const std::exception& e) {
  require(false, e.what());
}
