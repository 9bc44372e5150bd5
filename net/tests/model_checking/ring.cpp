// SPDX-License-Identifier: BSL-1.0
// ring: all interleavings of a producer and a consumer of a small ring, which wake each other.
// ctest: OPTIONAL_LIBS quintet_relacy NOT_UNDER address|thread
#include "checked_atomics.hpp"

#include "../support/long_runs.hpp"

#include <quintet/net/engine/shm/byte_ring.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <ostream>

namespace quintet::shm {
inline std::ostream& operator<<(std::ostream& out, stream_end e) { return out << static_cast<unsigned>(e); }
}  // namespace quintet::shm

namespace quintet::model_checking {
namespace {

using producer = shm::basic_ring_producer<checked_atomics>;
using consumer = shm::basic_ring_consumer<checked_atomics>;

/// What a side does beside. takes_for_nothing: a consumer may do that. announces_once is wrong: a producer that has
/// been woken and finds no room must announce its wait again. The model has to find that.
enum class habit { none, takes_for_nothing, announces_once };

template <habit Habit, unsigned Size, unsigned Count>
struct ring_model : rl::test_suite<ring_model<Habit, Size, Count>, 2> {
  shm::basic_ring_control<checked_atomics> control;
  std::array<char, Size> memory{};
  std::array<plain<unsigned>, Size> slots;  // as `memory`, but races are found
  wake_up producer_wakes, consumer_wakes;

  void before() {
    producer_wakes.begin();
    consumer_wakes.begin();
  }
  void after() {
    producer_wakes.end();
    consumer_wakes.end();
  }
  void thread(unsigned index) { index == 0 ? produce() : consume(); }

  // As the engine does for a stream: it looks, announces its sleep, looks again, and sleeps.
  void produce() {
    producer out(control, memory);
    for (unsigned sent = 0; sent < Count;) {
      const auto n = static_cast<unsigned>(std::min<std::size_t>(out.room(Count - sent), Count - sent));
      for (unsigned i = 0; i < n; ++i) slots[(sent + i) % Size].write(sent + i);
      sent += n;
      if (n > 0 && out.commit(n)) consumer_wakes.send();
      if (sent == Count || !out.wait_for_room()) continue;
      while (!out.end_wait()) {
        if (Habit != habit::announces_once) out.announce_wait();
        checked_atomics::fence();
        if (!out.has_news()) producer_wakes.wait();
      }
    }
    if (out.finish(shm::stream_end::finished)) consumer_wakes.send();
  }
  void consume() {
    consumer in(control, memory);
    for (unsigned received = 0;;) {
      const shm::stream_end end = in.producer_end();
      const auto n = static_cast<unsigned>(in.available());
      for (unsigned i = 0; i < n; ++i) check(slots[(received + i) % Size].read() == received + i, "wrong byte");
      received += n;
      if (in.release(n)) producer_wakes.send();
      if (Habit == habit::takes_for_nothing && control.producer_waits.exchange(0, std::memory_order_relaxed) != 0)
        producer_wakes.send();
      if (n > 0) continue;
      if (end != shm::stream_end::none) return check(received == Count, "bytes are lost");
      if (in.sleep()) consumer_wakes.wait();
    }
  }
};

template <habit Habit, unsigned Size, unsigned Count>
void holds(unsigned switches) {
  const outcome all = check_all<ring_model<Habit, Size, Count>>(switches);
  BOOST_TEST(all.holds);
  BOOST_TEST(all.interleavings > 1000U);  // the model runs at all
  std::cout << "ring of " << Size << ", " << Count << " bytes, " << switches << " preemptions: " << all.interleavings
            << " interleavings" << std::endl;
}

BOOST_AUTO_TEST_CASE(no_byte_and_no_wake_up_of_a_ring_is_lost) {
  const unsigned more = test::is_long() ? 1 : 0;
  holds<habit::none, 1, 3>(3 + more);
  holds<habit::none, 2, 5>(2 + more);
}

BOOST_AUTO_TEST_CASE(a_consumer_may_wake_a_producer_without_making_room) {
  holds<habit::takes_for_nothing, 1, 3>(test::is_long() ? 4 : 3);
}

BOOST_AUTO_TEST_CASE(a_producer_that_announces_its_wait_only_once_is_forgotten) {
  std::ostream nowhere(nullptr);
  const outcome all = check_all<ring_model<habit::announces_once, 1, 3>>(3, nowhere);
  BOOST_TEST(!all.holds);
  BOOST_TEST(all.result == rl::test_result_deadlock);
}

}  // namespace
}  // namespace quintet::model_checking
