// SPDX-License-Identifier: BSL-1.0
// kv_instructions.cpp: two runs of kv under callgrind.
#include "allocators/kv_instructions.hpp"

#include "compare/child_process.hpp"
#include "compare/scratch_file.hpp"
#include "compare/valgrind.hpp"
#include "peers/instructions.hpp"

namespace quintet::bench {
namespace {

constexpr std::uint64_t few = 2000, many = 8000;

double count(const redis_programs& programs, const server_care& care, const run_result& about, std::uint64_t requests) {
  const scratch_file log("callgrind");
  server_care watched = care;
  // The allocator is preloaded into valgrind, which passes it on to kv.
  watched.prefix = [&](const run_result& r) {
    auto out = care.prefix(r);
    out.insert(out.end(), {find_program("valgrind").value_or(""), "--tool=callgrind", "--fair-sched=yes",
                           "--callgrind-out-file=/dev/null", "--log-file=" + log.path()});
    return out;
  };
  run_redis_requests(programs, about, watched, requests);
  return collected_instructions(log.text());
}

}  // namespace

measure_function measure_kv_instructions(redis_programs programs, server_care care) {
  return [programs = std::move(programs), care = std::move(care)](run_result& result, const compare_settings&,
                                                                  const planned_run&, const placement&) {
    result.server_cpus = result.client_cpus = std::to_string(cpu_under_valgrind());
    const double less = count(programs, care, result, few), more = count(programs, care, result, many);
    result.requests = static_cast<double>(few + many);
    result.failed = 0;
    result.instructions_per_request = (more - less) / static_cast<double>(many - few);
  };
}

}  // namespace quintet::bench
