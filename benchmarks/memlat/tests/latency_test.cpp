// SPDX-License-Identifier: BSL-1.0
// latency_test.cpp: the permutation is one cycle, the working sets show what they are to show, and the tools run.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <vector>

#include "memlat/caches.hpp"
#include "memlat/chase.hpp"
#include "memlat/memlat_report.hpp"
#include "memlat/ping_pong.hpp"
#include "options.hpp"

namespace quintet::bench {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_random_cycle_visits_everything_once_before_it_comes_home) {
  for (const std::size_t count : {2UL, 3UL, 7UL, 1000UL}) {
    const auto next = random_cycle(count, count);
    std::vector<bool> seen(count, false);
    std::size_t at = 0;
    for (std::size_t step = 0; step < count; ++step) {
      BOOST_TEST_REQUIRE(!seen[at]);
      seen[at] = true;
      at = next[at];
    }
    BOOST_TEST(at == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_random_cycle_is_not_the_order_of_addresses) {
  const auto next = random_cycle(1000, 1);
  std::size_t neighbours = 0;
  for (std::size_t i = 0; i < next.size(); ++i) neighbours += next[i] == i + 1;
  BOOST_TEST(neighbours < 20u);
  BOOST_TEST((next != random_cycle(1000, 2)));
  BOOST_TEST((next == random_cycle(1000, 1)));
}

BOOST_AUTO_TEST_CASE(caches_are_read_as_the_kernel_tells_them) {
  namespace fs = std::filesystem;
  const auto root = fs::temp_directory_path() / "quintet-memlat-caches";
  const auto tell = [&](const char* index, const char* level, const char* type, const char* size) {
    const auto here = root / "cpu3" / "cache" / index;
    fs::create_directories(here);
    std::ofstream(here / "level") << level << '\n';
    std::ofstream(here / "type") << type << '\n';
    std::ofstream(here / "size") << size << '\n';
  };
  tell("index3", "3", "Unified", "16M");
  tell("index0", "1", "Data", "32K");
  tell("index1", "1", "Instruction", "64K");
  const auto found = read_caches(3, root);
  const auto none = read_caches(4, root);
  fs::remove_all(root);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].level == 1u);
  BOOST_TEST(found[0].bytes == 32u << 10);
  BOOST_TEST(found[1].bytes == 16u << 20);
  BOOST_TEST(none.empty());
}

BOOST_AUTO_TEST_CASE(working_sets_fit_their_level_and_what_does_not_fit_memory_is_told) {
  const std::vector<cache_level> caches{{1, 32 << 10}, {2, 1 << 20}, {3, 32 << 20}};
  std::vector<std::string> left_out;
  const auto all = working_sets(caches, std::size_t{1} << 30, left_out);
  BOOST_TEST_REQUIRE(all.size() == 4u);
  BOOST_TEST(left_out.empty());
  BOOST_TEST(all[0].bytes == 16u << 10);
  BOOST_TEST(all[2].bytes == 8u << 20);
  BOOST_TEST(all[3].name == "DRAM");
  BOOST_TEST(all[3].bytes == 128u << 20);
  BOOST_TEST(working_sets(caches, 100 << 20, left_out).size() == 3u);
  BOOST_TEST_REQUIRE(left_out.size() == 1u);
  BOOST_TEST(left_out[0] == "DRAM: it takes 128 MiB, and 100 MiB are to be had");
  // A second level of the size of the first shows nothing of its own.
  BOOST_TEST(working_sets({{1, 1 << 20}, {2, 1 << 20}}, std::size_t{1} << 30, left_out).size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_cache_that_is_as_slow_as_memory_is_remarked_on) {
  const std::string remark = "L3 is hardly faster than DRAM";
  const memlat_findings alike{{{"L3", 1 << 20, {90}}, {"DRAM", 1 << 26, {100}}}, {}, {}};
  BOOST_TEST(memlat_table(alike).find(remark) != std::string::npos);
  const memlat_findings apart{{{"L3", 1 << 20, {20}}, {"DRAM", 1 << 26, {100}}}, {}, {}};
  BOOST_TEST(memlat_table(apart).find(remark) == std::string::npos);
  BOOST_TEST(compose_memlat(apart).at("results").as_array().size() == 2u);
}

BOOST_AUTO_TEST_CASE(loads_and_passes_take_time) {
  pointer_chase small(16 << 10, 1);
  BOOST_TEST(small.lines() == 256u);
  BOOST_TEST(small.measure(10ms) > 0);
  const auto cpus = allowed_cpus();
  if (cpus.size() > 1) BOOST_TEST(measure_ping_pong(cpus[0], cpus[1], 10ms) > 0);
}

}  // namespace quintet::bench
