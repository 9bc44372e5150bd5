// SPDX-License-Identifier: BSL-1.0
// room: sends messages to all its guests, each on the loop of its connection, and several at once where they come fast.
#pragma once

#include <quintet/net/asio_beast.hpp>
#include <quintet/net/asio_stream.hpp>

#include <boost/beast/websocket.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace example::websocket {

using shared_text = std::shared_ptr<const std::string>;

/// One connection. Only its loop's thread uses it.
class guest : public std::enable_shared_from_this<guest> {
 public:
  using socket_type = boost::beast::websocket::stream<quintet::asio_stream>;
  static constexpr std::size_t most_waiting = 256, most_bytes_waiting = 4 * 1024 * 1024;

  explicit guest(socket_type socket) : socket_(std::move(socket)) { socket_.text(true); }
  [[nodiscard]] socket_type& socket() noexcept { return socket_; }
  [[nodiscard]] bool is_writing() const noexcept { return !waiting_.empty(); }
  /// Sends messages after those that wait. A guest that does not read is closed: before more than `most_waiting` texts,
  /// or `most_bytes_waiting`, wait behind one that it has not taken. A guest that has taken all gets any burst.
  void send(const std::vector<shared_text>& texts);

 private:
  void send_next();
  socket_type socket_;
  std::deque<shared_text> waiting_;
  std::size_t bytes_waiting_ = 0;  // of their texts
};

/// Messages of one `merge_time` share a timer of each loop, and a send to each guest: many guests who talk at once
/// would else cost a system call for each message and guest.
class room {
 public:
  static constexpr std::chrono::milliseconds merge_time{1};
  /// A guest's place in the room, until it is destroyed, on the guest's loop.
  class place {
   public:
    place(room& in, const std::shared_ptr<guest>& who);
    ~place();
    place(const place&) = delete;
    place& operator=(const place&) = delete;

   private:
    room& in_;
    quintet::event_loop& where_;
    std::list<std::shared_ptr<guest>>::iterator at_;
  };
  /// [any thread]
  void send(std::string text);

 private:
  struct loop_guests {
    std::list<std::shared_ptr<guest>> all;  // changed on the loop, under the lock
    std::vector<shared_text> news;          // under the lock; not empty: the timer runs
  };
  void deliver(quintet::event_loop& on);

  std::mutex mutex_;
  std::map<quintet::event_loop*, loop_guests> loops_;  // those that have guests: only they surely live
};

}  // namespace example::websocket
