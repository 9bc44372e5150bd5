// SPDX-License-Identifier: BSL-1.0
// kv_instructions.hpp: user-space instructions of the example `kv` for each request, allocator by allocator.
#pragma once

#include "peers/redis_load.hpp"

namespace quintet::bench {

// By callgrind, as the slope between two runs of different length. One connection asks, and waits for the answer before
// it asks again, so that how many requests are there at a time is the same in every run.
measure_function measure_kv_instructions(redis_programs, server_care);

}  // namespace quintet::bench
