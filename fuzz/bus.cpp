// SPDX-License-Identifier: BSL-1.0
// bus: a node, peers that send any frames and any bytes, with right and with wrong checksums, in any order, and one
// honest peer in whose name they speak. Whatever happened, the link with the honest peer works in the end.
#include "bus_peer.hpp"
#include "fuzz.hpp"

#include <quintet/bus/bus_node.hpp>
#include <quintet/bus/messages/frames.hpp>
#include <quintet/net/simulation.hpp>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace quintet;
using bus::frame_type;
using fuzz::require;
using testing::memory_network;
using testing::simulation;

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
  explicit world(std::uint8_t settings)
      : is_larger((settings & 1U) != 0),
        on_restart((settings & 2U) != 0 ? bus_restart_policy::fail : bus_restart_policy::send_again) {
    node.start();
    sim.drive(node.loop());
    node.connect(fuzz::honest_peer::id, {"tcp:127.0.0.1:9"});
    run();
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
    return {.id = is_larger ? 20U : 1U,  // than the honest peer's
            .listen = {"tcp:127.0.0.1:7"},
            .parent = 8,
            .on_messages =
                [this](std::span<const bus_message> all) {
                  for (const bus_message& m : all) {
                    require(m.payload.size() <= max_message, "no message is larger than max_message");
                    heard_oracle |= m.source == fuzz::honest_peer::id && m.payload == oracle;
                  }
                },
            .on_route =
                [this](std::uint64_t peer, std::optional<bus_route> r) {
                  if (peer == fuzz::honest_peer::id) route = r;
                },
            .on_room = [this](std::uint64_t) { is_refused = false; },
            .max_message = max_message,
            .max_unacknowledged = 2 * max_message,
            .max_posted = 2 * max_message,
            .max_peers = 4,
            .max_receipts = 8,
            .max_checksum_errors = 3,
            .reconnect = {.base = std::chrono::milliseconds(10), .cap = std::chrono::milliseconds(100)},
            .on_restart = on_restart,
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
    const auto send = [this, to, size]() noexcept {
      const error_code failed = node.send(to, std::string(size, 'n'), [this](error_code) { ++completed; });
      taken += !failed;
      return failed;
    };
    if (to != fuzz::honest_peer::id) return (void)send();  // as another thread
    node.loop().post([this, send]() noexcept { is_refused |= send() == errc::output_full; });
  }

  void run() {
    do sim.run_until_quiet();
    while (honest.pump());
  }
  void advance(std::chrono::milliseconds by) {
    sim.advance(by, by);
    run();
  }
  /// Both directions of the link with the honest peer, within two minutes. A refused message waits for on_room.
  void require_link_works() {
    for (const int c : peers) sim.network().close(c);
    peers.clear();
    honest.is_deaf = false;
    honest.last_payload.clear();
    bool is_taken = false;
    for (int s = 0; s < 120 && !(heard_oracle && honest.last_payload == oracle); ++s) {
      if (s % 10 == 0) honest.send(oracle);
      node.loop().post([&]() noexcept {
        if (is_refused || (is_taken && s % 10 != 0)) return;
        is_taken = !node.send(fuzz::honest_peer::id, oracle);
        is_refused = !is_taken;
      });
      for (int part = 0; part < 4; ++part) advance(std::chrono::milliseconds(250));
    }
    require(!is_refused, "on_room follows a refused message");
    require(heard_oracle, "the node hears the honest peer");
    require(honest.last_payload == oracle, "the honest peer hears the node");
    require(node.route_of(fuzz::honest_peer::id) == route, "on_route tells the route");
  }

  static constexpr bytes oracle = "is anybody there?";
  const bool is_larger;
  const bus_restart_policy on_restart;
  simulation sim{1};
  std::size_t taken = 0, completed = 0;
  bool heard_oracle = false, is_refused = false;
  std::optional<bus_route> route;
  std::vector<int> peers;
  fuzz::honest_peer honest{sim.network(), is_larger ? 20U : 1U, max_message};
  bus_node node{options()};
};

bus::hello hello_from(world& w, fuzz::input& in) {
  const std::uint8_t what = in.byte(), epoch = in.byte(), known = in.byte();
  return {.id = 1U + what % 16U,  // may be the node's own, and that of the honest peer
          .target = what & 0x80U ? 2U : w.node.id(),
          .epoch = epoch & 0x80U ? fuzz::honest_peer::epoch : epoch % 4U,
          .known_epoch = known & 0x80U ? w.honest.node_epoch() : known % 2U,
          .received = in.byte() % 4U,
          .max_message = what & 0x40U ? 0U : static_cast<std::uint32_t>(max_message),
          .route = static_cast<bus_route>(what & 0x20U ? 9U : 3U),
          .is_pinned = (what & 0x10U) != 0};
}

std::string frame_from(world& w, fuzz::input& in) {
  const std::uint8_t what = in.byte();
  std::string body;
  bus::frame_header h{static_cast<frame_type>(what % 9), in.byte(), in.byte(), in.byte()};
  switch (what % 9) {
    case static_cast<int>(frame_type::hello):
      return std::string(bus::encode(hello_from(w, in)).data());
    case static_cast<int>(frame_type::start):
    case static_cast<int>(frame_type::acknowledge):
    case static_cast<int>(frame_type::resend):
      return std::string(bus::encode(h.type, in.byte() % 8U, h.flags).data());
    case static_cast<int>(frame_type::routed): {
      const auto route = bus::encode(bus::routing{in.byte() % 8U, in.byte() % 8U, in.byte() % 4U});
      body.assign(route.data(), route.size());
      break;
    }
    default:
      break;
  }
  body += in.take(in.byte());
  if (what & 0x80U) body.append(what * 16U, 'l');  // near max_message
  return sealed(h, body);
}

void honest_step(world& w, std::uint8_t what, fuzz::input& in) {
  switch (what & 7U) {
    case 0:
      return w.honest.send(in.take(in.byte()));
    case 1:
      return w.honest.inject(frame_from(w, in));
    case 2:
      return w.honest.connect();
    case 3:
      return w.honest.drop_connections();
    default:
      w.honest.is_deaf = (what & 1U) == 0;
  }
}

void step(world& w, fuzz::input& in) {
  const std::uint8_t what = in.byte();
  if ((what & 0x80U) != 0) return honest_step(w, what, in), w.run();
  const int peer = w.peers.empty() ? -1 : w.peers[what / 8U % w.peers.size()];
  memory_network& net = w.sim.network();
  switch (what % 8) {
    case 0:
      w.connect();
      break;
    case 1:
    case 2:
      if (peer >= 0) net.send(peer, frame_from(w, in));
      break;
    case 3: {
      std::string bad = frame_from(w, in);
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
      if (what & 0x40U)
        net.reset(peer);
      else
        net.close(peer);
      break;
    default:
      w.sim.advance(std::chrono::milliseconds(in.byte() * 20));
  }
  w.run();
  if (peer >= 0 && what % 8 != 6) (void)net.receive(peer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  world w(in.byte());
  w.connect();
  for (int steps = 0; steps < 60 && !in.empty(); ++steps) step(w, in);
  w.require_link_works();
  return 0;
}
