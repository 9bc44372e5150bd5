// SPDX-License-Identifier: BSL-1.0
// service: the handler of the example websocket.
#pragma once

#include "websocket/room.hpp"

#include <boost/asio/awaitable.hpp>

namespace example::websocket {

/// At /chat each message goes to all guests of the room, which must outlive the server; elsewhere it comes back.
class service {
 public:
  explicit service(room& chatting) noexcept : chatting_(&chatting) {}
  boost::asio::awaitable<void> operator()(quintet::asio_stream s) const;

 private:
  room* chatting_;
};

}  // namespace example::websocket
