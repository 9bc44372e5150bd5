// SPDX-License-Identifier: BSL-1.0
// memory_wire: a connection between two nodes of one process, without the kernel.
#pragma once

#include "../../base/work/work_item.hpp"
#include "../../net/loop/event_loop.hpp"
#include "memory_pipe.hpp"
#include "wire.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace quintet::bus {

class memory_wire;

struct memory_pipe_types {
  using mutex = std::mutex;
  using buffer = std::string;
  using loop = event_loop;
  using item = work_item;
  using end = memory_wire;
};
using memory_pipe = basic_memory_pipe<memory_pipe_types>;

/// [loop] One end. It owns itself until it has closed.
class memory_wire final : public wire, private work_item, public std::enable_shared_from_this<memory_wire> {
 public:
  memory_wire(const wire_host& host, wire_user* of, std::shared_ptr<memory_pipe> pipe, unsigned side)
      : wire(host, of, bus_route::mem),
        work_item([](work_item& w) noexcept { const auto last = std::move(static_cast<memory_wire&>(w).self_); }),
        pipe_(std::move(pipe)),
        side_(side) {}
  ~memory_wire() override { pipe_->close(side_); }
  /// Throws std::bad_alloc.
  void begin() {
    pipe_->set_end(side_, *this, node().loop());
    opened();
    self_ = shared_from_this();
  }
  void deliver(bytes in) noexcept try { received(in); } catch (...) {
    node().loop().counters().handler_errors.add();
    peer_closed();
  }
  void peer_closed() noexcept {
    ended();
    shut();
  }

 private:
  bool write(bytes data) override { return pipe_->write(side_, data); }
  [[nodiscard]] bool can_write() override { return true; }
  void schedule_flush() override {
    node().loop().post([weak = weak_from_this()]() noexcept {
      if (const auto self = weak.lock()) self->deliver({});
    });
  }
  // The caller may be one of this object's functions, so it is destroyed later.
  void shut() noexcept override {
    pipe_->close(side_);
    if (self_ && !std::exchange(is_ending_, true)) node().loop().post(static_cast<work_item&>(*this));
  }

  const std::shared_ptr<memory_pipe> pipe_;
  const unsigned side_;
  std::shared_ptr<memory_wire> self_;
  bool is_ending_ = false;
};

}  // namespace quintet::bus
