// SPDX-License-Identifier: BSL-1.0
// pinned_pair.hpp: two threads, each pinned to a CPU, of which one asks and the other answers.
#pragma once

#include "options.hpp"

#include <future>

namespace quintet::bench {

/// Runs both functions concurrently and returns what ask() returns. Once it has ended, also by an exception, calls
/// end(), after which answer() must return. Throws std::system_error if a CPU may not be used.
template <class Ask, class Answer, class End>
auto run_pinned_pair(unsigned asking_cpu, unsigned answering_cpu, Ask ask, Answer answer, End end) {
  const auto start = [](unsigned cpu, auto function) {
    return std::async(std::launch::async, [cpu, function] {
      pin_thread({cpu});
      return function();
    });
  };
  // Test first: the other thread would wait forever for one that cannot start.
  for (const unsigned cpu : {asking_cpu, answering_cpu}) start(cpu, [] {}).get();
  auto second = start(answering_cpu, answer);
  auto first = start(asking_cpu, ask);
  first.wait();
  end();
  second.get();
  return first.get();
}

}  // namespace quintet::bench
