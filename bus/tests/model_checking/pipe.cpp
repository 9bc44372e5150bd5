// SPDX-License-Identifier: BSL-1.0
// pipe: all interleavings of two nodes of one process that write to each other and close their pipe.
// ctest: OPTIONAL_LIBS quintet_relacy NOT_UNDER address|thread
#include "../../../net/tests/model_checking/checked_swaps.hpp"

#include "../../../net/tests/support/long_runs.hpp"

#include <quintet/bus/wires/memory_pipe.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace quintet::model_checking {
namespace {

/// A string. An access that races with a change is an error.
class checked_text {
 public:
  checked_text() { change(); }
  void append(bytes data) {
    change();
    text_.append(data);
  }
  void clear() {
    change();
    text_.clear();
  }
  void swap(checked_text& other) {
    change();
    other.change();
    text_.swap(other.text_);
  }
  [[nodiscard]] bool empty() const { return view().empty(); }
  // NOLINTNEXTLINE(google-explicit-constructor): as std::string
  operator bytes() const { return view(); }

 private:
  void change() { changes_.write(++count_); }
  [[nodiscard]] bytes view() const {
    (void)changes_.read();
    return text_;
  }
  plain<unsigned> changes_;
  unsigned count_ = 0;
  std::string text_;
};

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

// Relacy replaces operators new and delete, but not all of them. So what the model allocates comes from elsewhere.
template <class T>
struct other_memory {
  using value_type = T;
  other_memory() noexcept = default;
  template <class U>
  other_memory(const other_memory<U>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor): an allocator
  T* allocate(std::size_t n) { return static_cast<T*>(std::malloc(n * sizeof(T))); }
  void deallocate(T* p, std::size_t /*n*/) noexcept { std::free(p); }
};

struct queue_item {
  using function = void (*)(queue_item&) noexcept;
  explicit queue_item(function to_run) noexcept : run(to_run) {}
  const function run;
};

/// What a pipe needs of a loop. It runs few items.
class queue_loop {
 public:
  void begin() { wakes_.begin(); }
  void end() { wakes_.end(); }
  void post(queue_item& item) {
    mutex_.lock();
    check(last_ < posted_.size(), "more posts than expected");
    posted_[last_++] = &item;
    mutex_.unlock();
    wakes_.send();
  }
  void run_some() {
    wakes_.wait();
    mutex_.lock();
    const std::size_t end = last_;
    mutex_.unlock();
    for (; first_ < end; ++first_) posted_[first_]->run(*posted_[first_]);
  }

 private:
  mutex mutex_;
  wake_up wakes_;
  std::array<queue_item*, 6> posted_{};
  std::size_t first_ = 0, last_ = 0;
};

struct noting_end {
  void deliver(bytes in) {
    check(!is_peer_closed, "bytes after the end");
    received += in;
  }
  void peer_closed() { is_peer_closed = true; }
  std::string received;
  bool is_peer_closed = false;
};

template <class Mutex>
struct pipe_types {
  using mutex = Mutex;
  using buffer = checked_text;
  using loop = queue_loop;
  using item = queue_item;
  using end = noting_end;
};

/// Side 0 writes twice before or after side 1 is there. Side 1 answers, and side 0 then closes.
template <class Mutex>
struct pipe_model : rl::test_suite<pipe_model<Mutex>, 2> {
  using pipe_type = bus::basic_memory_pipe<pipe_types<Mutex>>;
  std::shared_ptr<pipe_type> pipe = std::allocate_shared<pipe_type>(other_memory<pipe_type>());
  std::array<queue_loop, 2> loops;
  std::array<noting_end, 2> ends;

  void before() {
    for (queue_loop& l : loops) l.begin();
  }
  void after() {
    for (queue_loop& l : loops) l.end();
  }
  void thread(unsigned side) {
    pipe->set_end(side, ends[side], loops[side]);
    if (side == 0) {
      check(pipe->write(0, "a") && pipe->write(0, "b"), "a write is refused");
      while (ends[0].received.empty()) loops[0].run_some();
      check(ends[0].received == "x", "other bytes");
    } else {
      check(pipe->write(1, "x"), "a write is refused");
      while (!ends[1].is_peer_closed) loops[1].run_some();
      check(ends[1].received == "ab", "other bytes");
    }
    pipe->close(side);
  }
};

BOOST_AUTO_TEST_CASE(no_byte_and_no_end_of_a_pipe_is_lost) {
  BOOST_TEST((holds_always<pipe_model<mutex>>("a pipe of two nodes", test::is_long() ? 5 : 4)));
}

BOOST_AUTO_TEST_CASE(a_pipe_without_its_lock_is_found) {
  BOOST_TEST((is_found<pipe_model<no_mutex>>(3, rl::test_result_data_race)));
}

}  // namespace
}  // namespace quintet::model_checking
