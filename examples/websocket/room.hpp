// SPDX-License-Identifier: BSL-1.0
// room: sends a message to all its guests, each on the loop of its connection.
#pragma once

#include <quintet/net/asio_beast.hpp>
#include <quintet/net/asio_stream.hpp>

#include <boost/beast/websocket.hpp>

#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace example::websocket {

using shared_text = std::shared_ptr<const std::string>;

/// One connection. Only its loop's thread uses it.
class guest : public std::enable_shared_from_this<guest> {
 public:
  using socket_type = boost::beast::websocket::stream<quintet::asio_stream>;
  static constexpr std::size_t most_waiting = 256;

  explicit guest(socket_type socket) : socket_(std::move(socket)) { socket_.text(true); }
  [[nodiscard]] socket_type& socket() noexcept { return socket_; }
  [[nodiscard]] bool is_writing() const noexcept { return !waiting_.empty(); }
  /// Sends a message after those that wait. A guest that does not read is closed.
  void send(shared_text text);

 private:
  void send_next();
  socket_type socket_;
  std::deque<shared_text> waiting_;
};

class room {
 public:
  struct member {
    std::weak_ptr<guest> who;
    quintet::loop_executor where;
  };
  /// A guest's place in the room, until it is destroyed.
  class place {
   public:
    place(room& in, const std::shared_ptr<guest>& who);
    ~place();
    place(const place&) = delete;
    place& operator=(const place&) = delete;

   private:
    room& in_;
    std::list<member>::iterator at_;
  };
  /// [any thread]
  void send(std::string text);

 private:
  std::mutex mutex_;
  std::list<member> members_;
};

}  // namespace example::websocket
