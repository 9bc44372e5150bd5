// SPDX-License-Identifier: BSL-1.0
// output_world: a connection's output part without the connection, and the calls that a connection makes.
#pragma once

#include <quintet/net/connection/connection_extras.hpp>
#include <quintet/net/connection/connection_output.hpp>

#include "part_world.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace quintet::detail {

inline std::ostream& operator<<(std::ostream& out, connection_output::write_verdict a) {
  return out << static_cast<int>(a);
}

}  // namespace quintet::detail

namespace quintet::testing {

using detail::connection_output, detail::end_reason;
using write_verdict = connection_output::write_verdict;

struct output_world : part_world {
  explicit output_world(const connection_limits& limits = {}, const memory_limits& totals = {})
      : part_world(limits, totals) {
    part.classify_writes(c);  // as a connection does when it gets limits
    c.at_turn_end = [this] {
      if (connection_output::turn_ends(c, {})) note(part.send_queue(c, resumed));
    };
  }
  ~output_world() { part.release(c); }
  output_world(const output_world&) = delete;
  output_world& operator=(const output_world&) = delete;

  /// Writes as connection::write().
  write_verdict write(bytes data) {
    if (!c.baton_flags().output.checks_writes && part.try_append(data)) return write_verdict::accepted;
    const write_verdict verdict = part.check_write(c, data.size());
    if (verdict == write_verdict::accepted) part.append(c, std::array{data});
    return verdict;
  }
  template <class F>
  void batch(F handler) {
    turn([&] {
      BOOST_TEST(part.prepare_to_hand_off(c));
      handler();
      note(part.send_built(c));
    });
  }
  void batch_of(bytes data) {
    batch([&] { BOOST_TEST(write(data) == write_verdict::accepted); });
  }
  bool send_early() {
    end_reason failed;
    const bool sent = part.send_early(c, resumed, failed);
    note(failed);
    return sent;
  }
  void sendable() {
    turn([&] { note(part.send_queue(c, resumed)); });
  }
  void message(const shared_bytes& data) {
    turn([&] { note(part.send_message(c, data)); });
  }
  /// From now on the kernel accepts no bytes.
  void block() { wire.otherwise = 0; }
  void unblock(std::size_t takes = std::string::npos) { wire.otherwise = takes; }
  void when_sent(int number) {
    auto tell = [this, number](error_code why) { told.emplace_back(number, why); };
    part.add_notice(c, std::make_unique<send_notice_of<decltype(tell)>>(tell));
  }
  void note(end_reason why) {
    if (why && !broken) broken = why.code();
  }

  [[nodiscard]] bool is_queued() const { return c.loop_flags().output.is_queued; }
  [[nodiscard]] bool is_above() const { return c.loop_flags().output.above_watermark; }
  [[nodiscard]] bool overflowed() const { return c.baton_flags().output.overflowed; }

  part_context& c = context;
  connection_output part;
  counter resumed;
  error_code broken;  // the first error that the part reported
  std::vector<std::pair<int, error_code>> told;
};

inline shared_bytes shared(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

}  // namespace quintet::testing
