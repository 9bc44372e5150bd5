// SPDX-License-Identifier: BSL-1.0
// connecting: connections that a server accepts, and connections that a client opens.
#include "../../../net/tests/support/needs.hpp"
#include "scenario.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>

#include <algorithm>
#include <memory>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

struct accepting_callback {
  counted seen;
  void operator()(connection& c, bytes in) const { c.write(in); }
};
awaitable<> accepting_coroutine(stream& s) {
  const counted seen;
  while (const auto in = co_await s.read()) s.write(*in);
}

/// Opens connections while an allocation fails. One of them may be refused.
unsigned run_accepting(const surroundings& where, injection& faults) {
  config c = config_for(where);
  c.accepting = {.max_connections = 100, .max_connections_per_address = 50};
  c.memory.tuned_sockets = 4;
  return with_flavour(where, accepting_callback(), &accepting_coroutine, [&](auto handler) {
    stage all(c, handler, "hello", "hello");
    unsigned lost = 0;
    {
      std::vector<peer> peers;
      faults.begin();
      for (int i = 0; i < 6; ++i) {
        peers.push_back(all.connect());
        lost += !peers.back().ask("asks", "asks");
        if (i % 2 == 1) peers.pop_back();
      }
      faults.end();
    }
    all.check();
    return lost;
  });
}

constexpr std::string_view question = "a question that the upstream echoes";

struct client_context {
  std::atomic<unsigned> right{0}, wrong{0};
};
struct asking_callback {
  client_context* all;
  counted seen = {};
  std::string got = {};
  void on_open(connection& c) {
    got.clear();
    c.write(question);
  }
  void operator()(connection& c, bytes in) {
    if ((got += in).size() < question.size()) return;
    ++(got == question ? all->right : all->wrong);
    c.close();
  }
};
awaitable<> ask(stream& s, client_context& all) {
  const counted seen;
  s.write(question);
  const auto got = co_await s.read_exactly(question.size());
  if (!got) co_return;
  ++(*got == question ? all.right : all.wrong);
  s.close();
}
struct asking_coroutine {
  client_context* all;
  awaitable<> operator()(stream& s) const { return ask(s, *all); }
};

client_config config_of_client(const surroundings& where) {
  return {.model = where.under.kind,
          .threads = {.loops = 2, .workers = {1, 2}},
          .engine = where.engine,
          .reconnect = reconnect_options{.base = 1ms, .cap = 2ms},
          .on_connect_failed = [](const connect_failure&) {}};
}

template <class Client>
void await_links(const Client& here) {
  const auto deadline = std::chrono::steady_clock::now() + peer_patience;
  while (here.links() > 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(100us);
  if (here.links() > 0) throw std::runtime_error("stall: a link is neither connected nor over");
}

/// A client is made, runs, looks a name up, and is destroyed. Its constructor and run_in_background() may throw.
unsigned run_client_lifetime(const surroundings& where, injection& faults) {
  const upstream_echo behind;
  client_context seen;
  const std::string to = quintet::testing::loopback_name() + ":" + std::to_string(behind.port());
  return with_flavour(where, asking_callback{&seen}, asking_coroutine{&seen}, [&](auto handler) {
    std::unique_ptr<client> here;
    unsigned links = 0;
    faults.begin();
    const bool runs = succeeds([&] { here = std::make_unique<client>(config_of_client(where), handler); }) &&
                      succeeds([&] { here->run_in_background(); });
    for (int i = 0; runs && i < 2; ++i) links += succeeds([&] { here->connect(to); });
    if (runs) await_links(*here);
    succeeds([&] { here.reset(); });
    faults.end();
    if (seen.wrong > 0) throw std::runtime_error("corrupt: a reply of the upstream");
    return links - std::min<unsigned>(links, seen.right);
  });
}

/// Links of a client that reconnects: each one gets its answer, or is closed.
unsigned run_client(const surroundings& where, injection& faults) {
  const upstream_echo behind;
  client_context seen;
  return with_flavour(where, asking_callback{&seen}, asking_coroutine{&seen}, [&](auto handler) {
    client here(config_of_client(where), handler);
    here.run_in_background();
    unsigned links = 0;
    faults.begin();
    for (int i = 0; i < 4; ++i) {
      const as_server_thread here_too;
      try {
        here.connect("127.0.0.1:" + std::to_string(behind.port()));
        ++links;
      } catch (const std::bad_alloc&) {
        // connect() threw, so there is no link.
      }
    }
    await_links(here);
    faults.end();
    if (seen.wrong > 0) throw std::runtime_error("corrupt: a reply of the upstream");
    return links - std::min<unsigned>(links, seen.right);
  });
}

}  // namespace

const scenario accepting_scenario{"accepting", &run_accepting};
const scenario client_scenario{"client", &run_client};
const scenario client_lifetime_scenario{"client lifetime", &run_client_lifetime};

}  // namespace quintet::test
