// SPDX-License-Identifier: BSL-1.0
// memory_pipe: hands bytes over between two loops.
#pragma once

#include "../../base/bytes.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <utility>

namespace quintet::bus {

/// Two lanes of bytes. A side appends to its lane, and posts to the other side's loop, which takes all at once. The
/// queues of the links bound what can lie here. A template of what it is made of, so that a model checker can run it
/// (bus/tests/model_checking): Types has a mutex, a buffer, a loop, an item and an end.
template <class Types>
class basic_memory_pipe : public std::enable_shared_from_this<basic_memory_pipe<Types>> {
 public:
  using end_type = typename Types::end;
  using loop_type = typename Types::loop;

  /// Side 0 has connected, side 1 was connected to. The loop of a side must exist until close() for it.
  void set_end(unsigned side, end_type& end, loop_type& loop) {
    const std::lock_guard lock(mutex_);
    lanes_[side].writer = &end;
    lanes_[side].loop = &loop;
    if (!lanes_[1 - side].waiting.empty()) post_to_reader_of(1 - side);
  }
  /// [any thread] Throws std::bad_alloc. Returns false if the other side has closed.
  bool write(unsigned side, bytes data) {
    const std::lock_guard lock(mutex_);
    if (lanes_[1 - side].is_closed) return false;
    lanes_[side].waiting.append(data);
    post_to_reader_of(side);
    return true;
  }
  /// [loop] The side's end is not called any more. The other side learns of it, also without memory.
  void close(unsigned side) noexcept {
    const std::lock_guard lock(mutex_);
    lanes_[side].writer = nullptr;
    if (std::exchange(lanes_[side].is_closed, true)) return;
    post_to_reader_of(side);
  }

 private:
  /// Delivers a lane on its reader's loop.
  struct delivery final : Types::item {
    delivery() noexcept : Types::item(&delivery::run) {}
    static void run(typename Types::item& posted) noexcept {
      auto& self = static_cast<delivery&>(posted);
      const std::shared_ptr<basic_memory_pipe> pipe = std::move(self.pipe);
      pipe->deliver(self.side);
    }
    std::shared_ptr<basic_memory_pipe> pipe = {};  // while it is posted
    unsigned side = 0;
  };
  struct lane {
    end_type* writer = nullptr;
    loop_type* loop = nullptr;       // of the writer
    typename Types::buffer waiting;  // for the other side
    typename Types::buffer taken;    // the other side's loop uses it; both strings keep their memory
    delivery item;
    bool is_posted = false;
    bool is_closed = false;  // by the writer
  };

  // The reader may not be there yet. The lock holds its loop: it closes its side before the loop ends.
  void post_to_reader_of(unsigned side) noexcept {
    const lane& reader = lanes_[1 - side];
    lane& from = lanes_[side];
    if (!reader.writer || std::exchange(from.is_posted, true)) return;
    from.item.pipe = this->shared_from_this();
    from.item.side = side;
    reader.loop->post(static_cast<typename Types::item&>(from.item));
  }
  // The end lives until this returns: its node destroys it by a post of its own.
  void deliver(unsigned side) noexcept {
    lane& from = lanes_[side];
    end_type* end = nullptr;
    bool is_last = false;
    {
      const std::lock_guard lock(mutex_);
      from.is_posted = false;
      end = lanes_[1 - side].writer;
      from.taken.swap(from.waiting);
      is_last = from.is_closed;
    }
    if (end && !from.taken.empty()) end->deliver(from.taken);
    from.taken.clear();
    if (end && is_last) end->peer_closed();
  }

  typename Types::mutex mutex_;
  std::array<lane, 2> lanes_;
};

}  // namespace quintet::bus
