// SPDX-License-Identifier: BSL-1.0
// first_use: a coroutine needs no header but the server's, and a server's type has neither model nor handler.
#include <quintet/threadmodels/models.hpp>
#include <quintet/threadmodels/server.hpp>

#include <memory>

void serve(quintet::server& server) {
  server.run();
  if (server.statistics().workers.threads > 0) server.stop();
}

struct keeper {
  std::unique_ptr<int> state;
  void operator()(quintet::connection&, quintet::bytes) const {}
};

struct keeper_of_nothing {
  void operator()(quintet::connection&, quintet::bytes) const {}
};

int main() {
  quintet::server echo({}, [](quintet::stream& s) -> quintet::awaitable<> {
    while (const auto in = co_await s.read()) s.write(*in);
  });
  serve(echo);
  quintet::server kept({}, quintet::handler_factory([] { return keeper(); }));
  serve(kept);
  quintet::server single({}, quintet::single_reactor(), keeper_of_nothing());
  serve(single);
}
