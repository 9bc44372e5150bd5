// SPDX-License-Identifier: BSL-1.0
// forgotten_co_return: without co_await and co_return, this function is no coroutine, and returns nothing. Compilers
// warn about it.
// error: no return statement in function returning non-void
#include <quintet/threadmodels/server.hpp>

quintet::awaitable<> greet(quintet::stream& s) { s.write("hello\n"); }

int main() { quintet::server({}, &greet).run(); }
