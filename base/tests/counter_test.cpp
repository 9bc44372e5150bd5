// SPDX-License-Identifier: BSL-1.0
// counter_test: one thread adds, any thread reads.
#include <quintet/base/metrics/counter.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <thread>

namespace quintet {
namespace {

BOOST_AUTO_TEST_CASE(it_counts) {
  counter c;
  BOOST_TEST(c.value() == 0u);
  c.add();
  c.add();
  BOOST_TEST(c.value() == 2u);
  c.add(40);
  BOOST_TEST(c.value() == 42u);
  c.add(0);
  BOOST_TEST(c.value() == 42u);
  c.add(std::uint64_t{1} << 40);
  BOOST_TEST(c.value() == (std::uint64_t{1} << 40) + 42);
}

// Checks that values never decrease. ThreadSanitizer would report a data race.
BOOST_AUTO_TEST_CASE(readers_see_it_grow) {
  constexpr std::uint64_t target = 200'000;
  counter c;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < target; ++i) c.add();
  });
  bool went_back = false;
  for (std::uint64_t last = 0; last < target;) {
    const std::uint64_t now = c.value();
    went_back = went_back || now < last;
    last = now;
  }
  writer.join();
  BOOST_TEST(!went_back);
  BOOST_TEST(c.value() == target);
}

}  // namespace
}  // namespace quintet
