// SPDX-License-Identifier: BSL-1.0
// memory_wire: a connection between two nodes of one process, without the kernel.
#pragma once

#include "wire.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <string>

namespace quintet {

class event_loop;

}  // namespace quintet

namespace quintet::bus {

class memory_wire;

/// Two lanes of bytes. A side appends to its lane, and posts to the other side's loop, which takes all at once. The
/// queues of the links bound what can lie here.
class memory_pipe : public std::enable_shared_from_this<memory_pipe> {
 public:
  /// Side 0 has connected, side 1 was connected to. The loop of a side must exist until close() for it.
  void set_end(unsigned side, memory_wire& end, event_loop& loop);
  /// [any thread] Throws std::bad_alloc. Returns false if the other side has closed.
  bool write(unsigned side, bytes data);
  /// [loop] The side's end is not called any more.
  void close(unsigned side) noexcept;

 private:
  struct lane {
    memory_wire* writer = nullptr;
    event_loop* loop = nullptr;  // of the writer
    std::string waiting;         // for the other side
    std::string taken;           // the other side's loop uses it; both strings keep their memory
    bool is_posted = false;
    bool is_closed = false;  // by the writer
  };
  void post_to_reader_of(unsigned side);
  void deliver(unsigned side);

  std::mutex mutex_;
  std::array<lane, 2> lanes_;
};

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
