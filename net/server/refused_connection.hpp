// SPDX-License-Identifier: BSL-1.0
// refused_connection: says why a connection is refused, and waits until the peer has read it.
#pragma once

#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"

#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>

namespace quintet {

/// Of the list of all of one loop.
using refused_connection_hook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// Made by new; deletes itself at the end of the turn in which it closes. Sends once, ends its output, and drops what
/// the peer sends until it closes: closing a socket with unread input resets the connection, and destroys what the peer
/// has not read. Bounded in bytes and time: the peer is nobody whom the server knows.
class refused_connection final : public stream_channel,
                                 private timer,
                                 private work_item,
                                 public refused_connection_hook {
 public:
  static constexpr std::size_t most_bytes = 4096;  ///< of the words: a new socket takes them in one send
  static constexpr std::size_t most_at_once = 64;  ///< of one loop; the others are closed without words
  static constexpr std::chrono::seconds patience{1};

  explicit refused_connection(event_loop& loop) noexcept
      : work_item([](work_item& self) noexcept { delete &static_cast<refused_connection&>(self); }), loop_(loop) {}
  /// [loop] Sends `words`, of which it takes the first most_bytes, and closes in the end.
  void say(stream_handle&& stream, std::string_view words) noexcept;
  /// [loop] Closes now.
  void stop() noexcept;

 private:
  void on_received(bytes) override {}
  void on_receive_end(error_code) override { stop(); }
  void on_sendable() override {}
  void expired() noexcept override { stop(); }

  event_loop& loop_;
};

}  // namespace quintet
