// SPDX-License-Identifier: BSL-1.0
// pool_mutex: all interleavings of threads that lock a thin_mutex, and sleep in the kernel while another holds it.
// ctest: OPTIONAL_LIBS quintet_relacy NOT_UNDER address|thread
#include "../../../net/tests/model_checking/checked_swaps.hpp"

#include "../../../net/tests/support/long_runs.hpp"

#include <quintet/base/work/thin_mutex.hpp>

#include <boost/test/unit_test.hpp>

namespace quintet::model_checking {
namespace {

/// The defect that a model has.
enum class mutex_defect {
  none,
  wakes_nobody,  ///< unlock() wakes no thread
  is_relaxed,    ///< lock() and unlock() order no memory access
};

/// An atomic with the waiting of a futex: the kernel compares and sleeps in one step, and forgets a wake-up that comes
/// while nobody sleeps.
template <class T, mutex_defect Defect>
class futex {
 public:
  futex() { asleep_.init(false, info_of(place::current())); }
  ~futex() { asleep_.deinit(info_of(place::current())); }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order, std::memory_order failed,
                             const place& at = place::current()) {
    return value_.compare_exchange_weak(expected, value, weaker(order), failed, at);
  }
  T exchange(T value, std::memory_order order, const place& at = place::current()) {
    return value_.exchange(value, weaker(order), at);
  }
  void wait(T old, std::memory_order order, const place& at = place::current()) {
    kernel_.lock(info_of(at));
    if (value_.load(order, at) == old) asleep_.wait(kernel_, false, info_of(at));
    kernel_.unlock(info_of(at));
  }
  void notify_one(const place& at = place::current()) {
    if (Defect == mutex_defect::wakes_nobody) return;
    kernel_.lock(info_of(at));
    asleep_.notify_one(info_of(at));
    kernel_.unlock(info_of(at));
  }

 private:
  static constexpr std::memory_order weaker(std::memory_order order) {
    return Defect == mutex_defect::is_relaxed ? std::memory_order_relaxed : order;
  }
  swapping_atomic<T> value_;
  rl::mutex kernel_;
  rl::condvar<futex> asleep_;
};

template <mutex_defect Defect>
struct futexes {
  template <class T>
  using atomic = futex<T, Defect>;
};

/// Each thread adds to a plain number under the lock. The model finds a race, and a thread that sleeps for ever.
template <mutex_defect Defect, unsigned Threads, unsigned Times>
struct mutex_model : rl::test_suite<mutex_model<Defect, Threads, Times>, Threads> {
  basic_thin_mutex<futexes<Defect>> mutex;
  plain<unsigned> sum;

  void before() { sum.write(0); }
  void after() { check(sum.read() == Threads * Times, "an addition is lost"); }
  void thread(unsigned) {
    for (unsigned i = 0; i < Times; ++i) {
      mutex.lock();
      sum.write(sum.read() + 1);
      mutex.unlock();
    }
  }
};

BOOST_AUTO_TEST_CASE(one_thread_at_a_time_and_none_sleeps_for_ever) {
  const unsigned more = test::is_long() ? 1 : 0;
  BOOST_TEST((holds_always<mutex_model<mutex_defect::none, 2, 2>>("two threads, twice", 3 + more)));
  BOOST_TEST((holds_always<mutex_model<mutex_defect::none, 3, 1>>("three threads", 2 + more)));
}

BOOST_AUTO_TEST_CASE(an_unlock_that_wakes_nobody_is_found) {
  BOOST_TEST((is_found<mutex_model<mutex_defect::wakes_nobody, 2, 1>>(3, rl::test_result_deadlock)));
}

BOOST_AUTO_TEST_CASE(a_lock_that_orders_nothing_is_found) {
  BOOST_TEST((is_found<mutex_model<mutex_defect::is_relaxed, 2, 1>>(3, rl::test_result_data_race)));
}

}  // namespace
}  // namespace quintet::model_checking
