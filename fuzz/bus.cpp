// SPDX-License-Identifier: BSL-1.0
// bus: a node and peers that send any frames and any bytes, with right and with wrong checksums, in any order.
#include "fuzz.hpp"

#include <quintet/net/bus.hpp>
#include <quintet/net/bus/frames.hpp>
#include <quintet/net/simulation.hpp>

#include <array>
#include <string>
#include <vector>

namespace {

using namespace quintet;
using bus::frame_type;
using fuzz::require;

constexpr std::size_t max_message = 2048;
constexpr std::size_t most_messages = 64;  // of one input

/// Returns a frame whose checksum is right.
std::string sealed(const bus::frame_header& h, bytes body) {
  std::string frame(bus::prefix_size + bus::header_size, '\0');
  frame += body;
  bus::seal(frame.data(), h, body.size());
  return frame;
}

struct world {
  world() {
    node.start();
    sim.drive(node.loop());
  }
  ~world() {
    node.stop();
    sim.run_until_quiet();
    require(node.loop().finished(), "a stopped node finishes");
    node.finish();
    sim.forget(node.loop());
    require(completed == taken, "each completion is called once");
    for (const int c : peers) sim.network().close(c);
  }
  bus_options options() {
    return {.id = 1,
            .listen = {"tcp:127.0.0.1:7"},
            .parent = 8,
            .on_messages =
                [this](std::span<const bus_message> all) {
                  for (const bus_message& m : all) {
                    require(m.payload.size() <= max_message, "no message is larger than max_message");
                    delivered += m.payload.size();
                  }
                },
            .max_message = max_message,
            .max_unacknowledged = 2 * max_message,
            .max_posted = 2 * max_message,
            .max_peers = 4,
            .max_receipts = 8,
            .max_checksum_errors = 3,
            .shared_memory = false,
            .make_engine = [this] { return sim.network().make_engine(); },
            .time = &sim.time()};
  }
  void connect() {
    if (peers.size() == 4) return;
    if (const int c = sim.network().connect(7); c >= 0) peers.push_back(c);
  }
  void node_sends(std::uint64_t to, std::size_t size) {
    if (taken == most_messages) return;
    taken += !node.send(to, std::string(size, 'n'), [this](error_code) { ++completed; });
  }

  simulation sim{1};
  std::size_t delivered = 0, taken = 0, completed = 0;
  std::vector<int> peers;
  bus_node node{options()};
};

bus::hello hello_from(fuzz::input& in) {
  const std::uint8_t what = in.byte();
  return {.id = 1U + what % 8U,  // may be the node's own
          .target = what & 0x80U ? 2U : 1U,
          .epoch = in.byte() % 4U,
          .known_epoch = in.byte() % 2U,
          .received = in.byte() % 4U,
          .max_message = what & 0x40U ? 0U : static_cast<std::uint32_t>(max_message),
          .route = static_cast<bus_route>(what & 0x20U ? 9U : 3U),
          .is_pinned = (what & 0x10U) != 0};
}

std::string frame_from(fuzz::input& in) {
  const std::uint8_t what = in.byte();
  std::string body;
  bus::frame_header h{static_cast<frame_type>(what % 9), in.byte(), in.byte(), in.byte()};
  switch (what % 9) {
    case static_cast<int>(frame_type::hello):
      return std::string(bus::encode(hello_from(in)).data());
    case static_cast<int>(frame_type::start):
    case static_cast<int>(frame_type::acknowledge):
    case static_cast<int>(frame_type::resend):
      return std::string(bus::encode(h.type, in.byte() % 8U).data());
    case static_cast<int>(frame_type::routed): {
      std::array<char, bus::routing_size> place{};
      bus::encode(place.data(), bus::routing{in.byte() % 8U, in.byte() % 8U, in.byte() % 4U});
      body.assign(place.data(), place.size());
      break;
    }
    default:
      break;
  }
  body += in.take(in.byte());
  if (what & 0x80U) body.append(what * 16U, 'l');  // near max_message
  return sealed(h, body);
}

void step(world& w, fuzz::input& in) {
  const std::uint8_t what = in.byte();
  const int peer = w.peers.empty() ? -1 : w.peers[what / 8U % w.peers.size()];
  memory_network& net = w.sim.network();
  switch (what % 8) {
    case 0:
      w.connect();
      break;
    case 1:
    case 2:
      if (peer >= 0) net.send(peer, frame_from(in));
      break;
    case 3: {
      std::string bad = frame_from(in);
      bad[in.byte() % bad.size()] ^= 1;
      if (peer >= 0) net.send(peer, bad);
      break;
    }
    case 4:
      if (peer >= 0) net.send(peer, in.take(in.byte()));
      break;
    case 5:
      w.node_sends(2U + what / 8U % 8U, in.byte() * 8U);
      break;
    case 6:
      if (peer < 0) break;
      std::erase(w.peers, peer);
      if (what & 0x80U)
        net.reset(peer);
      else
        net.close(peer);
      break;
    default:
      w.sim.advance(std::chrono::milliseconds(in.byte() * 20));
  }
  w.sim.run_until_quiet();
  if (peer >= 0 && what % 8 != 6) (void)net.receive(peer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  world w;
  w.connect();
  for (int steps = 0; steps < 60 && !in.empty(); ++steps) step(w, in);
  return 0;
}
