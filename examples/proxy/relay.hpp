// SPDX-License-Identifier: BSL-1.0
// relay: two connections whose input is each other's output, with half-close and back-pressure in each direction alone.
#pragma once

#include "proxy/service.hpp"

#include <quintet/net/connection.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace example::proxy {

/// One of the two, and the direction that begins there. Only with the baton of its own connection; the other one
/// reaches it by connection_registry::post(). Its connection reads on while less than a window of what it has received
/// waits to be sent at the other end, whatever the other direction does: overflow_policy::pause would stop a connection
/// from reading because its own peer does not read.
class relay_end : public std::enable_shared_from_this<relay_end> {
 public:
  relay_end(std::size_t window, std::atomic<std::uint64_t>& sent) noexcept : window_(window), sent_(sent) {}

  /// Before this what comes is kept. `header`: what the other one is to send first.
  void join(quintet::connection& c, quintet::connection_id other, std::shared_ptr<relay_end> its_end,
            std::string header = {});
  void forward(quintet::connection& c, quintet::bytes in);
  /// The peer has finished sending.
  void read_eof(quintet::connection& c);
  /// Its connection is over: the other one sends what it has, and ends.
  void closed(quintet::connection& c);

 private:
  void send(quintet::connection& c, quintet::bytes in);
  void ask_when_sent(quintet::connection& c);
  void was_sent(quintet::connection& c, std::uint64_t so_far);
  void tell_of_eof(quintet::connection& c);
  void other_has_finished(quintet::connection& c);

  const std::size_t window_;
  std::atomic<std::uint64_t>& sent_;
  quintet::connection_id other_;
  std::shared_ptr<relay_end> other_end_;  // until closed()
  std::string early_;                     // came before other_ was there
  std::uint64_t forwarded_ = 0, asked_ = 0, left_ = 0;
  bool finished_ = false, other_finished_ = false;
};

}  // namespace example::proxy
