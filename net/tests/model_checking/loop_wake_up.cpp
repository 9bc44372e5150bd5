// SPDX-License-Identifier: BSL-1.0
// loop_wake_up: all interleavings of threads that post to a loop and of the loop, which sleeps when it has no work.
// ctest: OPTIONAL_LIBS quintet_relacy NOT_UNDER address|thread
#include "checked_swaps.hpp"

#include "../support/long_runs.hpp"

#include <quintet/base/work/work_item.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <ostream>

namespace quintet {
inline std::ostream& operator<<(std::ostream& out, sleep_place p) { return out << static_cast<int>(p); }
}  // namespace quintet

namespace quintet::model_checking {
namespace {

/// What is wrong with a model. is_weak: no operation is sequentially consistent. looks_before: the loop looks for work
/// before it announces its sleep, not after it.
enum class defect { none, is_weak, looks_before };

/// Notes its run. Its content is the poster's until it is pushed, and then the loop's.
struct posted_item {
  void operator()() {
    check(content == number + 1, "the content of another item");
    *ran = *ran + 1;
    if (first != &has_run) check(*first, "an item overtakes the one before it");
    has_run = true;
  }
  plain_member<posted_item*> next_;
  plain_member<unsigned> content;
  unsigned number = 0;
  unsigned* ran = nullptr;      // by the loop's thread
  bool has_run = false;         // the same
  const bool* first = nullptr;  // has_run of the same poster's first item
};

/// Each poster posts its items. The first one then asks the loop to stop, as event_loop::stop() does.
template <defect Defect, unsigned Posters, unsigned Each>
struct wake_up_model : rl::test_suite<wake_up_model<Defect, Posters, Each>, Posters + 1> {
  static constexpr bool is_weak = Defect == defect::is_weak;
  using atomics = swapping_atomics<is_weak>;

  basic_mpsc_inbox<atomics, posted_item> inbox;
  basic_sleep_flag<atomics> flag;
  swapping_atomic<bool, is_weak> stop_requested;
  wake_up engine;
  std::array<posted_item, Posters * Each> items;
  unsigned ran = 0;

  void before() {
    engine.begin();
    for (unsigned i = 0; i < items.size(); ++i) {
      items[i].number = i;
      items[i].ran = &ran;
      items[i].first = &items[i - i % Each].has_run;
    }
  }
  void after() { engine.end(); }
  void thread(unsigned index) { index < Posters ? post(index) : run(); }

  void wake() {
    if (flag.end_by_other() != sleep_place::awake) engine.send();
  }
  void post(unsigned poster) {
    for (unsigned i = 0; i < Each; ++i) {
      posted_item& item = items[poster * Each + i];
      item.content = item.number + 1;
      inbox.push(item);
      wake();
    }
    if (poster > 0) return;
    stop_requested.store(true);
    wake();
  }
  void run() {
    bool stopping = false;
    const auto must_not_sleep = [&] { return !inbox.empty() || (stop_requested.load() && !stopping); };
    for (;;) {
      if (stop_requested.load(std::memory_order_relaxed)) stopping = true;
      if (stopping && ran == items.size()) return;  // a loop that is finished does not wait
      const bool looked = Defect == defect::looks_before && must_not_sleep();
      (void)flag.sleep(
          sleep_place::in_engine, [&] { return Defect == defect::looks_before ? looked : must_not_sleep(); },
          [&](bool has_work) {
            if (!has_work) engine.wait();
            return true;
          });
      (void)inbox.run_all();
    }
  }
};

BOOST_AUTO_TEST_CASE(a_loop_that_sleeps_misses_no_post) {
  const unsigned more = test::is_long() ? 1 : 0;
  BOOST_TEST((holds_always<wake_up_model<defect::none, 1, 2>>("a poster of two items, and a loop", 4 + more)));
  BOOST_TEST((holds_always<wake_up_model<defect::none, 2, 1>>("two posters, and a loop", 3 + more)));
  BOOST_TEST((holds_always<wake_up_model<defect::none, 2, 2>>("two posters of two items, and a loop", 2 + more)));
}

BOOST_AUTO_TEST_CASE(a_loop_that_looks_before_it_announces_its_sleep_is_found) {
  BOOST_TEST((is_found<wake_up_model<defect::looks_before, 1, 1>>(3, rl::test_result_deadlock)));
}

BOOST_AUTO_TEST_CASE(a_sleep_that_is_not_sequentially_consistent_is_found) {
  BOOST_TEST((is_found<wake_up_model<defect::is_weak, 1, 1>>(3, rl::test_result_deadlock)));
}

}  // namespace
}  // namespace quintet::model_checking
