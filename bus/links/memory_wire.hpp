// SPDX-License-Identifier: BSL-1.0
// memory_wire: a connection between two nodes of one process, without the kernel.
#pragma once

#include "memory_pipe.hpp"
#include "wire.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace quintet {

class event_loop;

}  // namespace quintet

namespace quintet::bus {

class memory_wire;

struct memory_pipe_types {
  using mutex = std::mutex;
  using buffer = std::string;
  using loop = event_loop;
  using end = memory_wire;
};
using memory_pipe = basic_memory_pipe<memory_pipe_types>;

/// [loop] One end.
class memory_wire final : public wire, public std::enable_shared_from_this<memory_wire> {
 public:
  memory_wire(node& owner, link* of, std::shared_ptr<memory_pipe> pipe, unsigned side);
  ~memory_wire() override { pipe_->close(side_); }
  void open() { opened(); }
  void deliver(bytes in) noexcept;
  void peer_closed() noexcept;

 private:
  bool write(bytes data) override { return pipe_->write(side_, data); }
  [[nodiscard]] bool can_write() override { return true; }
  void schedule_flush() override;
  void shut() noexcept override;

  const std::shared_ptr<memory_pipe> pipe_;
  const unsigned side_;
};

}  // namespace quintet::bus
