// SPDX-License-Identifier: BSL-1.0
// no_handler: the result of write() is no number of bytes.
// error: returns void, or the number of bytes that it has used (not bool)
#include <quintet/threadmodels/server.hpp>

int main() {
  quintet::server({}, [](quintet::connection& c, quintet::bytes in) { return c.write(in); }).run();
}
