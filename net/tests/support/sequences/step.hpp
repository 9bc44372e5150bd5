// SPDX-License-Identifier: BSL-1.0
// step: one step of a sequence as plain data: an event, and an action of the program.
#pragma once

#include <quintet/net/options/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quintet::testing {

/// An action of a program with the baton, requested by a command of its peer or by a posted function. A program that
/// cannot perform it replies instead, for example a callback that should sleep.
enum class action : std::uint8_t {
  reply,         ///< writes one record, copied
  reply_shared,  ///< the same by reference
  reply_string,  ///< the same with a string that is moved
  reply_pieces,  ///< the same in several pieces
  reply_parts,   ///< one record in several writes
  reply_long,    ///< one record that is longer than a quantum of a turn
  until_full,    ///< writes while writable() holds; on_writable or until_writable() follows
  when_sent,     ///< calls when_sent()
  flush,
  corked,  ///< writes two records with a flush() in between, under a cork
  close,   ///< close(); a coroutine continues to read
  ends,    ///< close(); a coroutine returns
  close_with_error,
  shutdown_send,
  pause,      ///< pauses reading until a posted resume
  pause_for,  ///< the same; a timer posts the resume
  resume,
  leave_unused,     ///< leaves the rest of the batch unused
  expect_more,      ///< the same, and calls require_input()
  set_limits,       ///< sets other watermarks and another policy
  set_times,        ///< sets other time limits
  throttle_source,  ///< names another connection as the source
  move_to_priority_loop,
  move_to,  ///< migrates to another loop
  throws,
  send_to,  ///< registry.send() to another connection
  post_to,
  broadcast,
  close_other,
  abort_other,
  cancel_other,  ///< registry.cancel() of another connection
  cancel_on,     ///< chooses the reasons that cancel
  connect_out,   ///< begins to connect, to this server or to a silent address
  dawdle,        ///< replies; on a pool, the loops run turns meanwhile
  offload,       ///< coroutine only
  sleep,
  sleep_until_deadline,  ///< sleeps within with_deadline()
  read_by,               ///< reads within with_read_deadline()
  read_exactly,          ///< coroutine: the way of reading from now on
  read_until,
  read_message,
  read,
  count,  ///< number of actions, not an action
};
inline constexpr unsigned actions = static_cast<unsigned>(action::count);
std::string to_string(action a);

/// An event outside the program.
enum class event : std::uint8_t {
  connect,  ///< a client connects; if it is connected, it closes first
  command,  ///< the client sends a command, perhaps without the last bytes
  deliver,  ///< the client sends the bytes that it has held back
  post,     ///< registry.post() of an action
  send,     ///< registry.send()
  broadcast,
  close,    ///< registry.close()
  abort,    ///< registry.abort()
  receive,  ///< the client receives some bytes
  reads,    ///< from now on the client receives everything at once
  stops_reading,
  half_close,
  peer_close,
  reset,
  wait,    ///< time passes
  settle,  ///< the loops run until they are idle
  drain,
  stop,
  count,  ///< number of events, not an event
};
inline constexpr unsigned events = static_cast<unsigned>(event::count);
/// The origin of an event: a client, a thread that uses one client's connection, or the world as a whole.
enum class actor : std::uint8_t { client, outsider, world };
[[nodiscard]] actor actor_of(event e);

struct step {
  event what = event::settle;
  action does = action::reply;
  std::uint8_t who = 0;      ///< the client's place
  std::uint8_t turns = 0;    ///< turns of loops and pool threads afterwards; 255: until all are idle
  std::uint32_t amount = 0;  ///< argument of the action, bytes, or milliseconds
  std::uint32_t dice = 0;    ///< seed for the order of turns and for the network
  std::uint32_t extra = 0;   ///< command: extra % 1000 bytes of filler (999: 20,000), extra / 1000 bytes held back
};
inline constexpr std::uint8_t until_rest = 255;
inline constexpr unsigned places = 5;  ///< number of clients
/// Returns one line for the report of a failure.
std::string to_string(const step& s);

/// The constants of a sequence.
struct setting {
  unsigned model = 1;  ///< from 1 to 5
  std::uint64_t seed = 0;
  connection_limits limits;
  std::size_t window = 16 * 1024;
  bool runs_known_cost = false;  ///< with a pool: the loop runs batches of known cost inline
  [[nodiscard]] bool pooled() const { return model == 3 || model == 5; }
  [[nodiscard]] bool own_loops() const { return model == 1; }
  [[nodiscard]] unsigned loops() const { return model >= 4 ? 3 : 0; }
};
[[nodiscard]] setting make_setting(std::uint64_t seed, unsigned model);
[[nodiscard]] std::vector<step> make_steps(const setting& s, std::size_t count);
/// Set watermarks and a policy, or time limits, to one of a few combinations.
void vary_limits(connection_limits& l, std::uint32_t kind);
void vary_times(connection_limits& l, std::uint32_t kind);
std::string to_string(const connection_limits& l);

}  // namespace quintet::testing
