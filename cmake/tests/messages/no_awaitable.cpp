// SPDX-License-Identifier: BSL-1.0
// no_awaitable: a function of a stream that is no coroutine.
// error: or it is a coroutine that takes (quintet::stream&) and returns quintet::awaitable<>
#include <quintet/threadmodels/server.hpp>

void greet(quintet::stream& s) { s.write("hello\n"); }

int main() { quintet::server({}, &greet).run(); }
