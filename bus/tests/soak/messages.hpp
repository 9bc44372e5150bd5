// SPDX-License-Identifier: BSL-1.0
// messages: the bus of a round: three nodes beside the server, whose routes change, and which end and come again.
#pragma once

#include "ledger.hpp"
#include "plan.hpp"

#include <quintet/bus/bus_node.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace quintet::test::soak {

/// Node 0 listens. Nodes 1 and 2 connect to it, and reach each other through it. A thread sends bursts from the nodes'
/// loops and from outside, changes routes, and replaces nodes.
class messages {
 public:
  /// The nodes' threads inherit what fails in the calling thread.
  explicit messages(const plan& p);
  ~messages();
  messages(const messages&) = delete;
  messages& operator=(const messages&) = delete;

  /// [any thread] Sends a message from some node to another one, as a handler would.
  void send_from_handler(std::uint32_t number);
  /// Waits until each message has arrived or is reported, and ends the nodes. Returns what is wrong, or nothing.
  [[nodiscard]] std::string finish();
  [[nodiscard]] std::uint64_t delivered() const { return ledger_.delivered(); }

 private:
  static constexpr unsigned count = 3;
  static constexpr unsigned senders = 3;  // of letter_sender
  /// A node's number in the round, and the process that has it now.
  struct seat {
    unsigned life = 0;
    std::array<std::array<letter_stream*, count>, senders> streams{};  // by sender and receiver
    std::unique_ptr<bus_node> node;
  };

  [[nodiscard]] bus_options options_of(unsigned number);
  void begin(unsigned number);
  void try_to_begin(unsigned number);
  void end(unsigned number);
  void replace(unsigned number);
  void link(unsigned child);
  [[nodiscard]] unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  void run();
  void step();
  void change_route();
  void send_burst();
  bool send(bus_node& from, letter_stream& s, std::uint32_t size, bool asks, std::string& payload);
  [[nodiscard]] std::string settle();

  const plan& plan_;
  const std::uint64_t first_id_;
  ledger ledger_;
  dice random_;
  std::shared_mutex mutex_;  // unique while a node is replaced
  std::array<seat, count> seats_;
  std::counting_semaphore<64> bursts_{8};  // that loops have still to send
  std::uint64_t counted_ = 0;              // messages that ended nodes have counted as not delivered
  std::string wrong_;
  std::atomic<bool> ending_{false};
  std::thread driver_;
};

}  // namespace quintet::test::soak
