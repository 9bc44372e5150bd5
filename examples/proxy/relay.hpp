// SPDX-License-Identifier: BSL-1.0
// relay: two connections whose input is each other's output. Half-close and back-pressure work per direction.
#pragma once

#include "proxy/service.hpp"

#include <quintet/net/connection.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace example::proxy {

/// [baton] One end, and the direction that begins there. The other end uses connection_registry::post() to call it.
/// Its connection reads while less than a window of its input waits to be sent at the other end. Each direction has its
/// own window: overflow_policy::pause would stop a connection's input because its own peer does not read.
class relay_end : public std::enable_shared_from_this<relay_end> {
 public:
  relay_end(std::size_t window, std::atomic<std::uint64_t>& sent) noexcept : window_(window), sent_(sent) {}

  /// Connects this end to the other and forwards input kept until now. `header`: sent first by the other connection.
  void join(quintet::connection& c, quintet::connection_id other, std::shared_ptr<relay_end> its_end,
            std::string header = {});
  void forward(quintet::connection& c, quintet::bytes in);
  /// The peer has finished sending.
  void read_eof(quintet::connection& c);
  /// Its connection has closed: the other one sends its waiting output, which still counts, and closes.
  void closed(quintet::connection& c);

 private:
  static constexpr std::size_t most_early = 16 * 1024;  ///< bytes read before there is an upstream; then it pauses
  void send(quintet::connection& c, quintet::bytes in);
  void ask_when_sent(quintet::connection& c);
  /// In a call to the other connection: counts the bytes forwarded `so_far` once they have left there. Then tells
  /// `from`, if that is a connection.
  void count_when_sent(quintet::connection& to, std::uint64_t so_far, quintet::connection_id from = {});
  void was_sent(quintet::connection& c, std::uint64_t so_far);
  void tell_of_eof(quintet::connection& c);
  void other_has_finished(quintet::connection& c);

  const std::size_t window_;
  std::atomic<std::uint64_t>& sent_;  // bytes that the kernel has taken at the other end
  quintet::connection_id other_;
  std::shared_ptr<relay_end> other_end_;  // until closed()
  std::string early_;                     // input received before join()
  std::uint64_t forwarded_ = 0, asked_ = 0, left_ = 0;
  std::uint64_t counted_ = 0;  // only the other connection's send notices use it
  bool finished_ = false, other_finished_ = false;
};

}  // namespace example::proxy
