// SPDX-License-Identifier: BSL-1.0
// room: the way of a message from one loop to the others.
#include "websocket/room.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>

#include <utility>

namespace example::websocket {

void guest::send(const std::vector<shared_text>& texts) {
  std::size_t bytes = bytes_waiting_;
  for (const shared_text& text : texts) bytes += text->size();
  const bool is_idle = waiting_.empty();
  if (!is_idle && (waiting_.size() + texts.size() > most_waiting || bytes > most_bytes_waiting))
    return boost::beast::get_lowest_layer(socket_).close();
  bytes_waiting_ = bytes;
  waiting_.insert(waiting_.end(), texts.begin(), texts.end());
  if (is_idle) send_next();
}

// The stream takes each message at once while there is room, and sends them together.
void guest::send_next() {
  socket_.async_write(boost::asio::buffer(*waiting_.front()),
                      [self = shared_from_this()](const boost::system::error_code& why, std::size_t) {
                        self->bytes_waiting_ -= self->waiting_.front()->size();
                        self->waiting_.pop_front();
                        if (!why && !self->waiting_.empty()) self->send_next();
                      });
}

room::place::place(room& in, const std::shared_ptr<guest>& who) : in_(in), where_(who->socket().get_executor().loop()) {
  const std::lock_guard lock(in.mutex_);
  auto& here = in.loops_[&where_].all;
  at_ = here.insert(here.end(), who);
}

room::place::~place() {
  const std::lock_guard lock(in_.mutex_);
  const auto here = in_.loops_.find(&where_);
  here->second.all.erase(at_);
  if (here->second.all.empty()) in_.loops_.erase(here);
}

void room::send(std::string text) {
  const auto shared = std::make_shared<const std::string>(std::move(text));
  const std::lock_guard lock(mutex_);
  for (auto& [loop, guests] : loops_) {
    if (guests.news.empty()) loop->after(merge_time, [this, on = loop] { deliver(*on); });
    guests.news.push_back(shared);
  }
}

void room::deliver(quintet::event_loop& on) {
  std::vector<shared_text> news;
  std::list<std::shared_ptr<guest>>* all = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto here = loops_.find(&on);
    if (here == loops_.end()) return;
    news.swap(here->second.news);
    all = &here->second.all;
  }
  if (!news.empty())  // sends destroy no place: completions run later
    for (const std::shared_ptr<guest>& one : *all) one->send(news);
}

}  // namespace example::websocket
