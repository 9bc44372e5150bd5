// SPDX-License-Identifier: BSL-1.0
// echo: README's server. Links the layers, and no component.
#include <quintet/threadmodels/server.hpp>

int main() {
  quintet::server echo({.listen = {"127.0.0.1:0"}}, [](quintet::connection& c, quintet::bytes in) { c.write(in); });
  quintet::stop_on_signals stopper(echo);
  echo.run();
}
