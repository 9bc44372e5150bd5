// SPDX-License-Identifier: BSL-1.0
// bus_peer: a peer that speaks the bus's protocol as a node does. The node connects to it, and it connects to the node.
#pragma once

#include <quintet/bus/messages/frames.hpp>
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/testing/memory_network.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace quintet::fuzz {

/// Its link works again after any connection was lost. If the node says that it has received more than was sent,
/// somebody else has spoken in this peer's name: it goes on behind that.
class honest_peer {
 public:
  static constexpr std::uint64_t id = 9, epoch = 77;

  honest_peer(testing::memory_network& net, std::uint64_t node, std::size_t max_message)
      : net_(net),
        engine_(net.make_engine()),
        listening_(engine_->sockets().listen({"127.0.0.1:9"})),
        node_(node),
        max_message_(max_message) {}
  ~honest_peer() {
    for (connection& c : all_) net_.close(c.handle);
    net_.close(listening_);
  }
  honest_peer(const honest_peer&) = delete;
  honest_peer& operator=(const honest_peer&) = delete;

  void send(bytes payload) {
    queue_.emplace_back(payload);
    if (current_) write_message(queue_.back(), last());
  }
  /// Connects to the node's port.
  void connect() {
    const int handle = net_.connect(7);
    if (handle < 0) return;
    all_.push_back({handle, {}, codec(), true});
    net_.send(handle, bus::encode(greeting()).data());
  }
  /// Writes any bytes on the connection in use.
  void inject(bytes any) {
    if (current_) net_.send(current_->handle, any);
  }
  void drop_connections() {
    for (connection& c : all_) net_.close(c.handle);
    all_.clear();
    current_ = nullptr;
  }
  /// Accepts, receives and answers. Returns whether there was anything.
  bool pump() {
    if (is_deaf) return false;
    error_code failed;
    bool any = false;
    for (int handle = 0; (handle = engine_->sockets().accept(listening_, failed)) >= 0; any = true)
      all_.push_back({handle, {}, codec(), false});
    for (auto c = all_.begin(); c != all_.end();) {
      const std::string in = net_.receive(c->handle);
      any |= !in.empty();
      c->received += in;
      const bool is_right = parse(*c);
      if (is_right && !net_.at_end(c->handle) && !net_.was_reset(c->handle)) {
        ++c;
        continue;
      }
      any = true;
      if (current_ == &*c) {
        drop_connections();  // a node would go on with the one before, if it is still there
        break;
      }
      net_.close(c->handle);
      c = all_.erase(c);
    }
    return any;
  }

  [[nodiscard]] std::uint64_t node_epoch() const noexcept { return node_epoch_; }
  std::string last_payload;  // that the node has sent
  bool is_deaf = false;      // receives nothing

 private:
  struct connection {
    int handle;
    std::string received;
    bus::codec codec;
    bool is_dialed, is_greeted = false;
  };

  [[nodiscard]] bus::codec codec() const {
    return bus::codec(length_prefix<4>(max_message_ + bus::largest_overhead + bus::hello_size));
  }
  [[nodiscard]] bus::hello greeting() const {
    return {id, node_, epoch, node_epoch_, received_, static_cast<std::uint32_t>(max_message_), bus_route::tcp, false};
  }
  [[nodiscard]] std::uint64_t last() const noexcept { return acknowledged_ + queue_.size(); }

  void write_message(bytes payload, std::uint64_t number) {
    std::string f(bus::prefix_size + bus::header_size, '\0');
    f += payload;
    bus::seal(f.data(), {bus::frame_type::message, 0, 0, static_cast<std::uint32_t>(number)}, payload.size());
    net_.send(current_->handle, f);
  }
  void write_from(std::uint64_t number) {
    for (std::uint64_t n = std::max(number, acknowledged_ + 1); n <= last(); ++n)
      write_message(queue_[static_cast<std::size_t>(n - acknowledged_ - 1)], n);
  }
  void acknowledge(std::uint64_t number) {
    for (; acknowledged_ < number && !queue_.empty(); ++acknowledged_) queue_.pop_front();
    acknowledged_ = std::max(acknowledged_, number);
  }

  bool parse(connection& c) {
    for (;;) {
      const frame f = c.codec.parse(c.received);
      if (f.is == frame::state::incomplete) return true;
      if (f.is != frame::state::complete) return false;
      const auto h = bus::decode_header(f.message);
      if (!h || !handle(c, *h, f.message.substr(bus::header_size))) return false;
      c.received.erase(0, f.size);
    }
  }
  bool handle(connection& c, const bus::frame_header& h, bytes body) {
    if (!c.is_greeted) return greeted(c, bus::decode_hello(body));
    if (h.type == bus::frame_type::message) {
      received_ += static_cast<std::uint32_t>(h.sequence - static_cast<std::uint32_t>(received_)) < 0x80000000U
                       ? h.sequence - static_cast<std::uint32_t>(received_)
                       : 0U;
      last_payload = body;
      net_.send(c.handle, bus::encode(bus::frame_type::acknowledge, received_).data());
      return true;
    }
    const auto number = bus::decode_number(body);
    if (!number) return true;  // a routed message
    if (h.type == bus::frame_type::acknowledge) acknowledge(*number);
    if (h.type == bus::frame_type::resend && current_ == &c) write_from(*number);
    return true;
  }
  bool greeted(connection& c, const std::optional<bus::hello>& h) {
    if (!h || h->target != id) return false;
    c.is_greeted = true;
    if (h->epoch != node_epoch_) received_ = 0;
    node_epoch_ = h->epoch;
    if (h->known_epoch == epoch) acknowledge(h->received);
    if (!c.is_dialed) net_.send(c.handle, bus::encode(greeting()).data());
    current_ = &c;
    net_.send(c.handle, bus::encode(bus::frame_type::start, acknowledged_ + 1).data());
    write_from(1);
    return true;
  }

  testing::memory_network& net_;
  const std::unique_ptr<engine> engine_;
  const int listening_;
  const std::uint64_t node_;
  const std::size_t max_message_;
  std::list<connection> all_;
  connection* current_ = nullptr;
  std::deque<std::string> queue_;
  std::uint64_t acknowledged_ = 0, node_epoch_ = 0, received_ = 0;
};

}  // namespace quintet::fuzz
