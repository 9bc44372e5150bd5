// SPDX-License-Identifier: BSL-1.0
// quintet_echo: an echo server with a plain listener and, if it is given a certificate, one that speaks TLS. With a
// number of threads for handshakes, a priority port too. The variable QUINTET_MODEL selects the model.
#include <quintet/net/stop_on_signals.hpp>
#include <quintet/net/tls.hpp>
#include <quintet/threadmodels/server.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

int main(int argc, char** argv) try {
  if (argc == 2 || argc > 4) {
    std::fputs("quintet-tls-echo: it must be called as: quintet-tls-echo [CERTIFICATE KEY [THREADS]]\n", stderr);
    return 2;
  }
  quintet::config c{.listen = {"127.0.0.1:0"}};
  if (argc > 2)
    c.listen.emplace_back("127.0.0.1:0",
                          quintet::listener_settings{.tls = std::make_shared<quintet::tls_context>(
                                                         quintet::tls_options{.certificates = {{argv[1], argv[2]}}})});
  if (argc == 4) {
    c.listen.emplace_back("127.0.0.1:0", quintet::listener_settings{.priority = true});
    c.threads.handshakes = static_cast<unsigned>(std::atoi(argv[3]));
  }
  c.accepting.max_connections = 20'000;
  quintet::server echo(c, [](quintet::connection& peer, quintet::bytes in) { peer.write(in); });
  for (const quintet::address& at : echo.addresses()) std::printf("%d\n", at.port());
  std::fflush(stdout);
  const quintet::stop_on_signals stopper(echo);
  echo.run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "quintet-tls-echo: %s\n", e.what());
  return 1;
}
