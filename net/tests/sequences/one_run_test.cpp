// SPDX-License-Identifier: BSL-1.0
// one_run_test: one seed gives one run in every process, wherever the process has its memory.
#include "world.hpp"

#include <quintet/base/build/sanitizers.hpp>

#include <boost/algorithm/string/split.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace quintet::testing;

namespace {

constexpr std::uint64_t seeds = quintet::sanitized ? 5 : 40;  // of each model
constexpr std::size_t length = 200;                           // of a sequence
constexpr int answer = 3;                                     // the descriptor that a process prints its traces to
constexpr const char* layout = "QUINTET_TEST_LAYOUT";         // how many blocks of each size it takes before

/// A line for each sequence, behind one that says where the process has its memory.
std::string all_traces() {
  const char* const count = std::getenv(layout);
  const std::size_t blocks = count ? std::strtoul(count, nullptr, 10) : 0;
  std::vector<std::unique_ptr<char[]>> before;
  for (std::size_t size = 16; size <= 16'384; size *= 2)  // an allocator may keep each size in a place of its own
    for (std::size_t i = 0; i <= blocks; ++i) before.push_back(std::make_unique_for_overwrite<char[]>(size));
  std::string text = std::to_string(reinterpret_cast<std::uintptr_t>(before.back().get())) + "\n";
  for (unsigned model = 1; model <= 5; ++model)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const setting s = make_setting(seed, model);
      sequence_world world(s);
      const std::string wrong = world.run(make_steps(s, length));
      text += "model " + std::to_string(model) + ", seed " + std::to_string(seed) + ": " +
              std::to_string(world.trace()) + ' ' + wrong + '\n';
    }
  return text;
}

std::string read_all(int from) {
  std::string all;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = ::read(from, part.data(), part.size())) > 0;)
    all.append(part.data(), static_cast<std::size_t>(n));
  return all;
}

/// Of this program, started once more.
std::string traces_of_a_process(const char* blocks_before) {
  std::array<int, 2> pipe{};
  BOOST_REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(pipe[1], answer);
    ::setenv(layout, blocks_before, 1);
    ::execl("/proc/self/exe", "one_run", "--run_test=prints_its_traces", "--log_level=nothing", "--report_level=no",
            nullptr);
    ::_exit(127);
  }
  ::close(pipe[1]);
  std::string all = read_all(pipe[0]);
  ::close(pipe[0]);
  int status = -1;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  return all;
}

std::size_t count(event what) {
  std::size_t sum = 0;
  for (unsigned model = 1; model <= 5; ++model)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      sum += static_cast<std::size_t>(
          std::ranges::count(make_steps(make_setting(seed, model), length), what, &step::what));
  return sum;
}

}  // namespace

// Performed by the processes that the other case starts.
BOOST_AUTO_TEST_CASE(prints_its_traces, *boost::unit_test::disabled()) {
  const std::string all = all_traces();
  BOOST_TEST(::write(answer, all.data(), all.size()) == static_cast<ssize_t>(all.size()));
}

BOOST_AUTO_TEST_CASE(one_seed_gives_one_run_in_every_process) {
  BOOST_TEST(count(event::drain) >= 5 * seeds / 4);
  BOOST_TEST(count(event::broadcast) >= 5 * seeds);
  const std::string one = traces_of_a_process("0"), other = traces_of_a_process("1000");
  const auto lines_of = [](const std::string& all) {
    std::vector<std::string> lines;
    boost::algorithm::split(lines, all, [](char c) { return c == '\n'; });
    return lines;
  };
  const std::vector<std::string> lines = lines_of(one), others = lines_of(other);
  BOOST_REQUIRE(lines.size() == 2 + 5 * seeds);
  BOOST_REQUIRE(lines.size() == others.size());
  BOOST_TEST(lines.front() != others.front(), "both processes have their memory at the same place");
  for (std::size_t i = 1; i < lines.size(); ++i) BOOST_TEST(lines[i] == others[i]);
}
