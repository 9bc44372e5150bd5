// SPDX-License-Identifier: BSL-1.0
// first_use: a coroutine needs no header but the server's, and a function that takes any server is no template.
#include <quintet/threadmodels/server.hpp>

#include <memory>

void serve(quintet::any_server& server) {
  server.run();
  if (server.statistics().workers.threads > 0 || server.model().workers().threads > 0) server.stop();
}

struct keeper {
  std::unique_ptr<int> state;
  void operator()(quintet::connection&, quintet::bytes) const {}
};

int main() {
  quintet::server echo({}, [](quintet::stream& s) -> quintet::awaitable<> {
    while (const auto in = co_await s.read()) s.write(*in);
  });
  serve(echo);
  quintet::server kept({}, quintet::handler_factory([] { return keeper(); }));
  serve(kept);
}
