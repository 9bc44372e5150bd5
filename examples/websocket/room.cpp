// SPDX-License-Identifier: BSL-1.0
// room: the way of a message from one loop to the others.
#include "websocket/room.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/stream_traits.hpp>

#include <utility>

namespace example::websocket {

void guest::send(shared_text text) {
  if (waiting_.size() == most_waiting) return boost::beast::get_lowest_layer(socket_).close();
  waiting_.push_back(std::move(text));
  if (waiting_.size() == 1) send_next();
}

void guest::send_next() {
  socket_.async_write(boost::asio::buffer(*waiting_.front()),
                      [self = shared_from_this()](const boost::system::error_code& why, std::size_t) {
                        self->waiting_.pop_front();
                        if (!why && !self->waiting_.empty()) self->send_next();
                      });
}

room::place::place(room& in, const std::shared_ptr<guest>& who) : in_(in) {
  const std::lock_guard lock(in.mutex_);
  at_ = in.members_.insert(in.members_.end(), {who, who->socket().get_executor()});
}

room::place::~place() {
  const std::lock_guard lock(in_.mutex_);
  in_.members_.erase(at_);
}

// Under the lock: a member's loop lives as long as it is in the room. The guest is locked on its own loop only, so that
// it is destroyed there.
void room::send(std::string text) {
  const auto shared = std::make_shared<const std::string>(std::move(text));
  const std::lock_guard lock(mutex_);
  for (const member& m : members_)
    boost::asio::post(m.where, [who = m.who, shared] {
      if (const auto still_here = who.lock()) still_here->send(shared);
    });
}

}  // namespace example::websocket
