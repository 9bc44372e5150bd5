// SPDX-License-Identifier: BSL-1.0
// bus_worker: a node of the bus. It sends numbered messages to its peers, counts those that it gets, and answers
// bus_top.
#include <quintet/bus/bus_node.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/net/stop_on_signals.hpp>

#include "bus_top/bus_report.hpp"
#include "common/bus_peers.hpp"
#include "common/options.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

using namespace quintet;

int main(int argc, char** argv) {
  std::size_t id = 1, per_second = 100;
  std::string listen, peers;
  example::command_line("bus_worker", "A node of the bus, which sends numbered messages to its peers.")
      .number("--id", id, 1, ~std::size_t{0}, "number of this node")
      .text("--listen", listen, "where other nodes connect: unix:/path or tcp:ADDRESS:PORT", "ADDRESS")
      .text("--peers", peers, "nodes to connect to, and to send messages to", "ID=ADDRESS[,ID=ADDRESS...]")
      .number("--per-second", per_second, 1, 1000, "messages to each peer")
      .try_it(
          "  bus_worker --id 1 --listen unix:/tmp/1.bus &\n"
          "  bus_worker --id 2 --listen unix:/tmp/2.bus --peers 1=unix:/tmp/1.bus &\n"
          "  bus_top --node 1 --at unix:/tmp/1.bus")
      .parse(argc, argv);
  try {
    bus_node* self = nullptr;
    bus_options o{.id = id};
    if (!listen.empty()) o.listen = {listen};
    o.on_messages = [&](std::span<const bus_message> all) {
      for (const bus_message& m : all)
        if (m.payload == example::bus_report_request) (void)self->send(m.source, example::to_text(*self, o.ring_size));
    };
    bus_node node(o);
    self = &node;
    const signal_guard stopper(node.loop(), {SIGINT, SIGTERM}, [&node] { node.stop(); });
    const auto to = example::bus_peers_from(peers, "--peers");
    for (const auto& [peer, address] : to) node.connect(peer, {address});
    node.loop().every(std::chrono::microseconds(1'000'000 / per_second), [&, number = 0]() mutable {
      const std::string text = "message " + std::to_string(++number);
      for (const auto& [peer, address] : to) (void)node.send(peer, text);  // a full queue drops it
    });
    std::string announced = "bus_worker: node " + std::to_string(id);
    for (const std::string& at : node.addresses()) announced += ", " + at;
    std::puts(announced.c_str());
    std::fflush(stdout);
    node.run();
  } catch (...) {
    return example::report_exception("bus_worker");
  }
}
