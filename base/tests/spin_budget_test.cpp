// SPDX-License-Identifier: BSL-1.0
// spin_budget_test: when a thread spins and for how long, by a clock that each look advances.
#include <quintet/base/error.hpp>
#include <quintet/base/work/spin_budget.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string_view>

using namespace quintet;
using namespace std::chrono_literals;
using outcome = spin_budget::outcome;

namespace {

constexpr duration budget = 100us, look = 1us;

/// Runs spins in which look number `which` finds something (0: none does).
struct spinner {
  outcome spin(unsigned which, duration sleep = 1h, duration each = look) {
    unsigned looks = 0;
    const time_point began = time.now();
    const outcome o = spins.spin(time, sleep, [&] {
      time.advance(each);
      return ++looks == which;
    });
    lasted = time.now() - began;
    return o;
  }
  outcome pays() { return spin(20); }
  outcome fails() { return spin(0); }
  /// Repeats a spin until it is not skipped. Returns the number of skips.
  unsigned skipped_until(unsigned which) {
    unsigned skipped = 0;
    while (spin(which) == outcome::skipped) ++skipped;
    return skipped;
  }
  void give_up() {
    while (fails() != outcome::skipped) {
    }
  }

  manual_clock time;
  spin_budget spins{budget};
  duration lasted{};
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_budget_has_bounds) {
  spin_budget::validate(0us);
  spin_budget::validate(spin_budget::longest);
  const auto says = [](std::string_view word) {
    return [word](const config_error& e) { return std::string_view(e.what()).find(word) != std::string_view::npos; };
  };
  BOOST_CHECK_EXCEPTION(spin_budget(-1us), config_error, says("spin is -1 us; it must be at least 0"));
  BOOST_CHECK_EXCEPTION(spin_budget(100'001us), config_error, says("spin is 100001 us; it must be at most 100 ms"));
  BOOST_TEST(!spin_budget().enabled());
  BOOST_TEST(spin_budget(1us).enabled());
}

BOOST_AUTO_TEST_CASE(it_looks_until_something_comes) {
  spinner s;
  BOOST_TEST((s.spin(20) == outcome::paid));
  BOOST_TEST((s.lasted == 20us));
}

BOOST_AUTO_TEST_CASE(it_looks_no_longer_than_its_budget_and_the_sleep) {
  spinner s;
  BOOST_TEST((s.fails() == outcome::failed));
  BOOST_TEST((s.lasted == look + budget));  // the clock is read after the first look
  BOOST_TEST((s.spin(0, 30us) == outcome::failed));
  BOOST_TEST((s.lasted == look + 30us));
}

BOOST_AUTO_TEST_CASE(what_is_there_already_asks_no_clock_and_says_nothing) {
  spinner s;
  s.give_up();
  while (s.spins.spin(s.time, 1h, [] { return true; }) == outcome::skipped) {
  }
  for (int i = 0; i < 100; ++i)
    BOOST_TEST((s.spins.spin(s.time, 1h, [] { return true; }) == outcome::ready));  // does not count as paid
  BOOST_TEST((s.fails() == outcome::failed));
  BOOST_TEST((s.fails() == outcome::skipped));
}

BOOST_AUTO_TEST_CASE(what_comes_while_it_was_held_up_has_not_paid) {
  spinner s;
  BOOST_TEST((s.spin(2, 1h, 10ms) == outcome::interrupted));
  BOOST_TEST(spin_budget::found(outcome::interrupted));
  while (s.spin(2, 1h, 10ms) != outcome::skipped) {  // another thread has the CPU, so it stops spinning
  }
}

BOOST_AUTO_TEST_CASE(while_it_pays_it_never_skips) {
  spinner s;
  for (int i = 0; i < 1000; ++i) BOOST_REQUIRE((s.pays() == outcome::paid));
}

BOOST_AUTO_TEST_CASE(three_of_four_are_enough_and_one_of_four_is_not) {
  spinner most, few;
  unsigned skipped = 0;
  for (unsigned i = 0; i < 400; ++i) BOOST_REQUIRE((most.spin(i % 4 == 0 ? 0 : 20) != outcome::skipped));
  for (unsigned i = 0; i < 400; ++i) skipped += few.spin(i % 4 == 0 ? 20 : 0) == outcome::skipped;
  BOOST_TEST(skipped > 300u);
}

BOOST_AUTO_TEST_CASE(in_vain_it_skips_more_and_more_sleeps_up_to_a_bound) {
  spinner s;
  unsigned before_it = 0;
  while (s.fails() != outcome::skipped) ++before_it;
  BOOST_TEST(before_it <= 8u);  // spins of the whole budget
  (void)s.skipped_until(0);
  unsigned last = 1;
  for (int i = 0; i < 20; ++i) {
    const unsigned next = s.skipped_until(0);
    BOOST_TEST(next == std::min(2 * last + 1, spin_budget::most_skips));
    last = next;
  }
  BOOST_TEST(last == spin_budget::most_skips);
}

BOOST_AUTO_TEST_CASE(of_many_sleeps_without_work_it_takes_less_than_a_hundredth_of_the_budget_each) {
  spinner s;
  duration spun{};
  constexpr int sleeps = 10'000;
  for (int i = 0; i < sleeps; ++i)
    if (s.fails() != outcome::skipped) spun += s.lasted;
  BOOST_TEST(spun.count() < (budget * sleeps / 100).count());
}

BOOST_AUTO_TEST_CASE(when_it_pays_again_it_recovers) {
  spinner s;
  for (int i = 0; i < 10'000; ++i) (void)s.fails();
  unsigned sleeps = 0;
  for (unsigned in_a_row = 0; in_a_row < 20; ++sleeps) in_a_row = s.pays() == outcome::paid ? in_a_row + 1 : 0;
  BOOST_TEST(sleeps < 3 * spin_budget::most_skips);
  for (int i = 0; i < 3; ++i) BOOST_TEST((s.fails() == outcome::failed));  // a few failures cause no skip
}
