// SPDX-License-Identifier: BSL-1.0
// handler_without_copies: a handler whose member cannot be copied.
// error: this handler cannot be copied, and each connection gets a copy
#include <quintet/threadmodels/server.hpp>

#include <memory>

struct keeper {
  std::unique_ptr<int> state;
  void operator()(quintet::connection&, quintet::bytes) const {}
};

int main() { quintet::server({}, keeper()).run(); }
