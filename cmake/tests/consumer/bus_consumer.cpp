// SPDX-License-Identifier: BSL-1.0
// bus_consumer: one node of the bus sends a message to another one of its process, with an installed Quintet.
#include <quintet/bus/bus_node.hpp>

#include <future>

int main() {
  std::promise<std::size_t> received;
  quintet::bus_node two({.id = 2, .on_messages = [&](auto all) { received.set_value(all.size()); }});
  quintet::bus_node one({.id = 1});
  one.connect(2);
  two.run_in_background();
  one.run_in_background();
  return one.send(2, "hello") || received.get_future().get() != 1;
}
