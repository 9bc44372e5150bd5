// SPDX-License-Identifier: BSL-1.0
// decorating_engine: the base of engines that serve some streams themselves, and pass on all else to an inner engine.
#pragma once

#include "embedding.hpp"
#include "engine.hpp"
#include "handle_table.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace quintet {

/// A port (shm_stream, filter_port) serves one stream that carries the decorator's kind of transport. It has the verbs
/// of a stream: send() of both kinds, set_reading(), arrived(), has_more(), unsent() and shutdown_send(). The base
/// finds the port of a channel, and passes on the calls for all other channels. A template, so that a batch costs one
/// indirect call for each engine of the stack. Thread tags as in engine.
template <class Port>
class decorating_engine : public engine, protected engine_embedding {
 public:
  void prepare() override {
    inner_->limit_receive(receive_limit());
    inner_->prepare();
  }
  void wake() noexcept override { inner_->wake(); }
  stream_handle remove(channel& c) noexcept final;
  error_code set_reading(channel& c, bool on) noexcept final {
    Port* const p = port_of(c);
    return p ? p->set_reading(on) : inner_->set_reading(c, on);
  }
  send_result send(stream_channel& c, bytes data) noexcept final {
    Port* const p = port_of(c);
    return p ? p->send(data) : inner_->send(c, data);
  }
  send_result send(stream_channel& c, output_pieces pieces) noexcept final {
    Port* const p = port_of(c);
    return p ? p->send(pieces) : inner_->send(c, pieces);
  }
  /// A port's channel never sends directly.
  send_result end_direct_send(stream_channel& c, std::size_t offered, ssize_t result) noexcept final {
    return inner_->end_direct_send(c, offered, result);
  }
  [[nodiscard]] arrival arrived(stream_channel& c) noexcept final {
    Port* const p = port_of(c);
    return p ? p->arrived() : inner_->arrived(c);
  }
  [[nodiscard]] bool has_more(stream_channel& c, const arrival& by) noexcept final {
    Port* const p = port_of(c);
    return p ? p->has_more(by) : inner_->has_more(c, by);
  }
  [[nodiscard]] std::size_t unsent(stream_channel& c) noexcept final {
    Port* const p = port_of(c);
    return p ? p->unsent() : inner_->unsent(c);
  }
  void flush(flush_extent extent) noexcept override { inner_->flush(extent); }
  void shutdown_send(stream_channel& c) noexcept final {
    if (Port* const p = port_of(c))
      p->shutdown_send();
    else
      inner_->shutdown_send(c);
  }

 protected:
  explicit decorating_engine(std::unique_ptr<engine> inner)
      : engine(inner->capabilities(), inner->sockets(), inner->embedding() ? this : nullptr), inner_(std::move(inner)) {
    if (engine_embedding* const e = inner_->embedding())
      e->on_descriptor_closing([this] { notify_descriptor_closing(); });
  }

  // The embedding. A foreign loop's wait is a wait like any other.
  [[nodiscard]] int descriptor() noexcept override { return inner_->embedding()->descriptor(); }
  [[nodiscard]] boost::asio::io_context* context() noexcept override { return inner_->embedding()->context(); }
  void abandon() noexcept override { inner_->embedding()->abandon(); }

  [[nodiscard]] engine& inner() noexcept { return *inner_; }
  [[nodiscard]] const engine& inner() const noexcept { return *inner_; }
  /// Returns nullptr if the inner engine has the channel.
  [[nodiscard]] Port* port_of(const channel& c) const noexcept { return ports_.find(c.handle()); }
  [[nodiscard]] std::size_t port_count() const noexcept { return port_count_; }
  error_code add_to_inner(channel& c, stream_handle&& stream) {
    inner_->limit_receive(receive_limit());
    return inner_->add(c, std::move(stream));
  }

  /// Makes room in a list for all ports and one more, beside those that it has. Throws std::bad_alloc.
  template <class List>
  void reserve_in(List& list) const {
    const std::size_t wanted = list.size() + port_count_ + 1;
    if (list.capacity() < wanted) list.reserve(std::max(wanted, 2 * list.capacity()));
  }
  /// Makes room for one more port, so that adding and removing it needs no memory. Throws std::bad_alloc.
  void reserve_for_port(int handle) {
    ports_.reserve_for(handle);
    reserve_in(removed_);
  }
  /// Serves the channel by a port from now on.
  void serve(channel& c, int handle, std::unique_ptr<Port> p) noexcept {
    bind(c, handle);
    ports_.set(handle, p.release());
    ++port_count_;
  }
  /// Keeps a port that is used no more until the next turn: callbacks of this turn may be in progress.
  void destroy_later(std::unique_ptr<Port> p) noexcept {
    removed_.push_back(std::move(p));
    has_chores_ = true;
  }
  /// Call it at the start of poll().
  void destroy_removed() noexcept { removed_.clear(); }
  [[nodiscard]] bool has_removed() const noexcept { return !removed_.empty(); }
  /// The next poll() has more to do than to poll the inner engine. Whoever makes such work sets it, poll() clears it: a
  /// turn of plain streams costs one comparison for each decorator.
  bool has_chores_ = false;

 private:
  /// Ends serving: stops watching for the port, and returns its stream.
  virtual stream_handle detach(Port& p) noexcept = 0;

  const std::unique_ptr<engine> inner_;
  handle_table<Port> ports_;
  std::size_t port_count_ = 0;
  std::vector<std::unique_ptr<Port>> removed_;
};

template <class Port>
stream_handle decorating_engine<Port>::remove(channel& c) noexcept {
  if (!port_of(c)) return inner_->remove(c);
  std::unique_ptr<Port> p(ports_.take(unbind(c)));
  stream_handle removed = detach(*p);
  destroy_later(std::move(p));  // reserve_for_port() has made room
  --port_count_;
  return removed;
}

}  // namespace quintet
