// SPDX-License-Identifier: BSL-1.0
// client_handler_without_copies: the same for a client.
// error: quintet::handler_factory([] { return my_handler(...); })
#include <quintet/threadmodels/client.hpp>

#include <memory>

struct keeper {
  std::unique_ptr<int> state;
  void operator()(quintet::connection&, quintet::bytes) const {}
};

int main() { quintet::client({}, keeper()).run(); }
