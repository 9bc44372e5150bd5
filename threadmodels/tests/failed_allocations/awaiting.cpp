// SPDX-License-Identifier: BSL-1.0
// awaiting: handlers wait for a pool, timers, Asio's clients, and sockets of a connection pool.
#include "scenario.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/connection_pool.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace quintet::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

std::uint16_t upstream_port = 0;  // port of the current scenario

struct upstream : connection_pool {
  explicit upstream(event_loop& loop) : connection_pool(loop, "127.0.0.1:" + std::to_string(upstream_port)) {}
};

tcp::endpoint upstream_at() { return {asio::ip::make_address("127.0.0.1"), upstream_port}; }

awaitable<std::string> nested(stream& s) {
  co_return co_await s.offload([] { return std::string(100, 'o'); });
}

awaitable<> ask_client(stream& s) {
  tcp::socket socket(s.get_executor());
  co_await socket.async_connect(upstream_at(), asio::deferred);
  std::string text(100, 'c');
  co_await asio::async_write(socket, asio::buffer(text), asio::deferred);
  co_await asio::async_read(socket, asio::buffer(text), asio::deferred);
  s.write(text);
}
awaitable<> ask_pool(stream& s) {
  auto lent = co_await s.loop().use<upstream>().get();
  std::string text(100, 'p');
  co_await asio::async_write(lent.socket(), asio::buffer(text), asio::deferred);
  co_await asio::async_read(lent.socket(), asio::buffer(text), asio::deferred);
  s.write(text);
}
asio::awaitable<int> of_asio() {
  asio::steady_timer t(co_await asio::this_coro::executor, 1ms);
  co_await t.async_wait(asio::use_awaitable);
  co_return 7;
}
awaitable<> write_much(stream& s) {
  for (int i = 0; i < 32; ++i) {
    s.write(std::string(65536, 'm'));
    if (!co_await s.until_writable()) co_return;
  }
}

awaitable<> execute(stream& s, std::string verb) {
  if (verb == "offload") {
    s.write(co_await nested(s));
  } else if (verb == "timer") {
    asio::steady_timer t(s.get_executor(), 1ms);
    co_await t.async_wait(asio::deferred);
  } else if (verb == "client") {
    co_await ask_client(s);
  } else if (verb == "pool") {
    co_await ask_pool(s);
  } else if (verb == "spawn") {
    s.write(std::to_string(co_await asio::co_spawn(s.get_executor(), of_asio(), asio::deferred)));
  } else if (verb == "much") {
    co_await write_much(s);
  } else if (verb == "exactly") {
    co_await s.read_exactly(20'000);
  } else if (verb == "message") {
    length_prefix<2> wire;
    co_await s.read_message(wire);
  }
  s.write("\n");
}
awaitable<> serve(stream& s) {
  const counted seen;
  while (const auto line = co_await s.read_until("\n"))
    co_await execute(s, std::string(line->substr(0, line->size() - 1)));
}

/// For callbacks: functions of the loop that send to the connection by its id. They run without the baton.
struct waiting_callback {
  counted seen;
  void operator()(connection& c, bytes verb) const {
    const auto tell = [id = c.id(), &registry = c.registry(), token = counted()]() noexcept {
      while (!tried(registry, id)) {  // without a retry, the peer would wait for ever
      }
    };
    if (verb == "after")
      c.loop().after(1ms, tell);
    else if (verb == "post")
      c.loop().post(tell);
    else
      c.write("\n");
  }
  static bool tried(connection_registry& registry, connection_id id) noexcept try {
    registry.send(id, "\n");
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
};

struct question {
  const char* text;
  std::string answer;
};

unsigned converse(peer& p, const std::vector<question>& all) {
  for (int round = 0; round < 2; ++round)
    for (const question& q : all)
      if (!p.ask(q.text, q.answer)) return 1;
  return 0;
}

const std::vector<question>& questions_for(const surroundings& where) {
  static const std::string exactly = "exactly\n" + std::string(20'000, 'e');
  static const std::vector<question> of_coroutines{{"offload\n", std::string(100, 'o') + "\n"},
                                                   {"timer\n", "\n"},
                                                   {"client\n", std::string(100, 'c') + "\n"},
                                                   {"pool\n", std::string(100, 'p') + "\n"},
                                                   {"spawn\n", "7\n"},
                                                   {"much\n", std::string(32 * 65536, 'm') + "\n"},
                                                   {exactly.c_str(), "\n"}};
  static const std::vector<question> of_callbacks{{"after\n", "\n"}, {"post\n", "\n"}, {"other\n", "\n"}};
  return where.under.is_coroutine() ? of_coroutines : of_callbacks;
}

unsigned run_awaiting(const surroundings& where, injection& faults) {
  const upstream_echo behind;
  upstream_port = behind.port();
  return with_flavour(where, framed(delimiter("\n"), waiting_callback()), &serve, [&](auto handler) {
    stage all(config_for(where), handler, "none\n", "\n");
    peer p = all.connect(16 << 10);
    if (!p.ask("none\n", "\n")) throw std::runtime_error("no beginning");
    faults.begin();
    unsigned lost = converse(p, questions_for(where));
    if (where.under.is_coroutine() && p.alive()) {
      p.send(std::string("message\n\0", 9));
      if (!p.ask(std::string("\5hello", 6), "\n")) ++lost;
    }
    faults.end();
    all.check();
    return lost;
  });
}

}  // namespace

const scenario awaiting_scenario{"awaiting", &run_awaiting};

}  // namespace quintet::test
