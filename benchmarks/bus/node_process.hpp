// SPDX-License-Identifier: BSL-1.0
// node_process.hpp: one process of a run over the bus: a node that sends, receives, or both.
#pragma once

#include "bus/board.hpp"
#include "bus/numbered_messages.hpp"

#include <quintet/bus/bus_node.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quintet::bench {

struct bus_traffic {
  bus_route route = bus_route::shm;
  count_range sizes{8, 128};
  bool merging = true;  ///< false: one message for each target in a turn of the loop, so that it has a write of its own
  std::uint64_t seed = 1;
  std::size_t static_output = 0;  ///< bytes of send buffers that each process's loop makes at its start
  hash_kind checksum = {};        ///< that messages carry and their receiver checks; without a function: none
};

/// The peers of one node. Ids begin at 1, in the order of the boards.
struct node_role {
  std::uint64_t id = 0;
  std::vector<std::uint64_t> dials;    ///< peers that it connects to
  std::vector<std::uint64_t> targets;  ///< peers that it sends to
  std::size_t links = 0;               ///< links that it has when the run can begin
  std::optional<std::uint64_t> relay;  ///< the node that forwards what it sends
  std::size_t forwards_for = 0;        ///< senders whose messages it forwards
};

/// Commands of the measuring process to a node, and its answers. Each is one byte.
namespace node_command {
inline constexpr char connect = 'c', send = 's', stop = 'e', end = 'q';
inline constexpr char listening = 'L', linked = 'R', drained = 'D';
}  // namespace node_command

/// The node in its process. The main thread waits for commands; the node's loop has a thread of its own.
class node_process {
 public:
  /// `name`: the beginning of all Unix addresses of the run.
  node_process(const bus_traffic& traffic, node_role role, std::span<node_board> boards, std::string name, int control);
  /// Serves until the command `end` or the end of the control socket.
  void run();

 private:
  struct target {
    std::uint64_t id = 0, number = 0;              // the next one
    std::size_t unconfirmed = 0, unannounced = 0;  // bytes on their way through a relay; after the last completion
    bool is_full = false, is_last_sent = false;
  };

  [[nodiscard]] bus_options make_options();
  [[nodiscard]] std::string address_of(std::uint64_t id) const;
  [[nodiscard]] node_board& own_board() const { return boards_[role_.id - 1]; }
  void answer(char what) const;
  void connect_all();
  void note_route(std::uint64_t peer, std::optional<bus_route> route);
  void receive(std::span<const bus_message> all);
  void note_checksums() const;
  // On the loop.
  void send_all();
  void send_to(target& t);
  void send_one(target& t);
  void send_to_relay(target& t);
  void send_last(target& t);
  void note_sent(target& t, error_code failed);
  void schedule();

  const bus_traffic traffic_;
  const node_role role_;
  const std::span<node_board> boards_;
  const std::string name_;
  const int control_;
  numbered_messages messages_;
  message_check check_{messages_};
  std::map<std::uint64_t, std::optional<bus_route>> routes_;
  std::vector<target> targets_;
  std::uint64_t sent_ = 0;
  std::size_t undrained_ = 0;  // targets that have not acknowledged their last message
  bool is_linked_ = false, is_scheduled_ = false, is_stopping_ = false;
  std::unique_ptr<bus_node> node_;
};

}  // namespace quintet::bench
