// SPDX-License-Identifier: BSL-1.0
// consumer: starts and stops a server in each of the five models, with an installed Quintet.
#include <quintet/threadmodels/server.hpp>

#include <cstdio>
#include <thread>

int main() {
  for (const quintet::model model : quintet::all_models) {
    quintet::server echo({.model = model}, [](quintet::connection& c, quintet::bytes in) { c.write(in); });
    std::thread running([&] { echo.run(); });
    echo.stop();
    running.join();
    std::printf("%s: port %u\n", quintet::to_string(model).data(), unsigned{echo.port()});
  }
}
