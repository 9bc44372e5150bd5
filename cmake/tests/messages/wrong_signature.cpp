// SPDX-License-Identifier: BSL-1.0
// wrong_signature: the input is a view, not a string.
// error: A handler takes (quintet::connection&, quintet::bytes)
#include <quintet/threadmodels/server.hpp>

#include <string>

int main() {
  quintet::server({}, [](quintet::connection& c, const std::string& in) { c.write(in); }).run();
}
