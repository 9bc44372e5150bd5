// SPDX-License-Identifier: BSL-1.0
// pool_sleepers: all interleavings of a thread that submits work and of workers that sleep, spin, time out and leave.
// ctest: OPTIONAL_LIBS quintet_relacy NOT_UNDER address|thread
#include "../../../net/tests/model_checking/checked_swaps.hpp"

#include "../../../net/tests/support/long_runs.hpp"

#include <quintet/threadmodels/compute/idle_workers.hpp>

#include <boost/test/unit_test.hpp>

#include <array>

namespace quintet::model_checking {
namespace {

/// What is wrong with a model. queues_after: the submitting thread looks for an idle worker, releases the lock, and
/// queues the item afterwards.
enum class defect { none, queues_after };

/// As wake_semaphore. Any wait with a time limit may end by it.
class semaphore {
 public:
  void begin(const place& at = place::current()) { semaphore_.init(false, 0, 100, info_of(at)); }
  void end(const place& at = place::current()) { semaphore_.deinit(info_of(at)); }
  void post(const place& at = place::current()) {
    unsigned before = 0;
    semaphore_.post(1, before, info_of(at));
  }
  bool wait(bool has_limit, const place& at = place::current()) {
    return semaphore_.wait(false, has_limit, info_of(at)) != rl::sema_wakeup_reason_timeout;
  }

 private:
  rl::semaphore<semaphore> semaphore_;
};

/// A queue of which only the length matters. Workers take items as worker_pool::wait_for_work() does: they look, one of
/// them spins, and they sleep. The last worker never leaves, as a pool keeps `min` threads.
template <defect Defect, unsigned Workers, unsigned Items, bool Spins>
struct pool_model : rl::test_suite<pool_model<Defect, Workers, Items, Spins>, Workers + 1> {
  struct worker : basic_sleeper<semaphore> {};

  model_checking::mutex mutex;
  basic_idle_workers<worker> idle;
  std::array<worker, Workers> workers;
  atomic<unsigned> pending;
  wake_up finished;                                 // all items have run: a pool's owner stops it afterwards
  unsigned queued = 0, ran = 0, present = Workers;  // guarded by the mutex
  bool is_spinning = false, stopping = false;       // the same

  void before() {
    for (worker& w : workers) w.wake.begin();
    finished.begin();
  }
  void after() {
    for (worker& w : workers) w.wake.end();
    finished.end();
    check(ran == Items, "an item is lost");
  }
  void thread(unsigned index) { index < Workers ? work(workers[index]) : submit(); }

  // As worker_pool::take(): it calls an idle worker if too few are awake, and then stop().
  void submit() {
    for (unsigned i = 0; i < Items; ++i) {
      mutex.lock();
      worker* called = Defect == defect::queues_after ? call(1) : nullptr;
      if (Defect == defect::queues_after) {
        mutex.unlock();
        mutex.lock();
      }
      ++queued;
      pending.store(queued, std::memory_order_relaxed);
      if (Defect == defect::none) called = call(queued);
      mutex.unlock();
      if (called) called->wake.post();
    }
    finished.wait();
    mutex.lock();
    stopping = true;
    mutex.unlock();
    for (worker& w : workers) w.wake.post();
  }
  worker* call(unsigned waiting) { return present - idle.size() < waiting && !idle.empty() ? &idle.call() : nullptr; }
  void work(worker& self) {
    mutex.lock();
    while (wait_for_work(self)) {
      --queued;
      pending.store(queued, std::memory_order_relaxed);
      if (++ran == Items) finished.send();
    }
    --present;
    mutex.unlock();
  }
  bool wait_for_work(worker& self) {
    while (queued == 0) {
      if (stopping) return false;
      if (Spins && !is_spinning && spin()) continue;
      const bool may_leave = present > 1;
      const bool called = idle.sleep(self, mutex, may_leave, [&] { return stopping; });
      if (!called && queued == 0 && !stopping && present > 1) return false;
    }
    return true;
  }
  bool spin() {
    is_spinning = true;
    mutex.unlock();
    const bool found = pending.load(std::memory_order_relaxed) > 0;
    mutex.lock();
    is_spinning = false;
    return found || queued > 0 || stopping;
  }
};

BOOST_AUTO_TEST_CASE(no_item_waits_while_a_worker_sleeps) {
  const unsigned more = test::is_long() ? 1 : 0;
  BOOST_TEST((holds_always<pool_model<defect::none, 1, 2, true>>("a worker that spins, and two items", 3 + more)));
  BOOST_TEST((holds_always<pool_model<defect::none, 2, 2, false>>("two workers and two items", 1 + more)));
}

BOOST_AUTO_TEST_CASE(an_item_that_is_queued_after_the_look_for_a_sleeper_is_found) {
  BOOST_TEST((is_found<pool_model<defect::queues_after, 1, 1, false>>(3, rl::test_result_deadlock)));
}

}  // namespace
}  // namespace quintet::model_checking
