// SPDX-License-Identifier: BSL-1.0
// step: what a sequence of calls is made of, as plain data: what the program does, and what happens around it.
#pragma once

#include <quintet/net/options/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quintet::testing {

/// What a program does with the baton: because of a command that its peer has sent, or of a posted function. A program
/// that cannot do it, such as a callback that is to sleep, replies instead.
enum class action : std::uint8_t {
  reply,                  ///< writes one record, copied
  reply_shared,           ///< the same by reference
  reply_string,           ///< the same of a string that is handed over
  reply_pieces,           ///< the same in several pieces
  reply_parts,            ///< one record in several writes
  reply_long,             ///< one record that is longer than a share of a turn
  until_full,             ///< as long as writable() holds; then on_writable or until_writable() comes
  when_sent,              ///< asks to be told
  flush,                  ///< between two records
  corked,                 ///< two records and a flush() under a cork
  close,                  ///< and for a coroutine: goes on reading
  ends,                   ///< close(), and for a coroutine: its end
  close_with_error,       ///<
  shutdown_send,          ///<
  pause,                  ///< until a posted resume
  pause_for,              ///< the same, and a timer posts it
  resume,                 ///<
  leave_unused,           ///< leaves the rest of the batch, and what comes
  expect_more,            ///< the same, and asks for so much more
  set_limits,             ///< other watermarks and another policy
  set_times,              ///< other time limits
  throttle_source,        ///< another connection
  move_to_priority_loop,  ///<
  move_to,                ///< another loop
  throws,                 ///<
  send_to,                ///< registry.send() to another connection
  post_to,                ///<
  broadcast,              ///<
  close_other,            ///<
  abort_other,            ///<
  connect_out,            ///< begins to connect, to this server or to nobody
  dawdle,                 ///< on a pool: the loops turn meanwhile
  offload,                ///< a coroutine's
  sleep,                  ///<
  read_exactly,           ///< from now on, where it can
  read_until,             ///<
  read_message,           ///<
  read,                   ///<
  count,                  ///< of the actions; none itself
};
inline constexpr unsigned actions = static_cast<unsigned>(action::count);
std::string to_string(action a);

/// What happens around the program.
enum class event : std::uint8_t {
  connect,    ///< a client connects; one that is connected ends first
  command,    ///< the client asks for an action, perhaps without the last bytes
  deliver,    ///< the client sends the bytes that it has kept back
  post,       ///< registry.post() of an action
  send,       ///< registry.send()
  broadcast,  ///<
  close,      ///< registry.close()
  abort,      ///< registry.abort()
  receive,    ///< the client receives some
  reads,      ///< the client receives everything as soon as it comes
  stops_reading,
  half_close,
  peer_close,
  reset,
  wait,    ///< time passes
  settle,  ///< everything comes to rest
  drain,
  stop,
  count,  ///< of the events; none itself
};
inline constexpr unsigned events = static_cast<unsigned>(event::count);
/// What acts: a client, an outsider on the connection of one client, or the world as a whole.
enum class actor : std::uint8_t { client, outsider, world };
[[nodiscard]] actor actor_of(event e);

struct step {
  event what = event::settle;
  action does = action::reply;
  std::uint8_t who = 0;      ///< the client's place
  std::uint8_t turns = 0;    ///< of loops and pool threads, afterwards; 255: until everything is at rest
  std::uint32_t amount = 0;  ///< of the action, bytes, or milliseconds
  std::uint32_t dice = 0;    ///< of the order of turns, and of the network
  std::uint32_t extra = 0;   ///< command: filler; in addition, for 1000 and more: bytes kept back
};
inline constexpr std::uint8_t until_rest = 255;
inline constexpr unsigned places = 5;  ///< of clients
/// One line, as the report of a failure shows it.
std::string to_string(const step& s);

/// What is the same throughout a sequence.
struct setting {
  unsigned model = 1;  ///< from 1 to 5
  std::uint64_t seed = 0;
  connection_limits limits;
  std::size_t window = 16 * 1024;
  bool runs_known_cost = false;  ///< with a pool: a batch of known cost is run by the loop all the same
  [[nodiscard]] bool pooled() const { return model == 3 || model == 5; }
  [[nodiscard]] bool own_loops() const { return model == 1; }
  [[nodiscard]] unsigned loops() const { return model >= 4 ? 3 : 0; }
};
[[nodiscard]] setting make_setting(std::uint64_t seed, unsigned model);
[[nodiscard]] std::vector<step> make_steps(const setting& s, std::size_t count);
/// Watermarks and a policy, or times, of one of a few kinds.
void vary_limits(connection_limits& l, std::uint32_t kind);
void vary_times(connection_limits& l, std::uint32_t kind);
std::string to_string(const connection_limits& l);

}  // namespace quintet::testing
