// SPDX-License-Identifier: BSL-1.0
// kv_instructions.hpp: user-space instructions of the example `kv` per request, allocator by allocator.
#pragma once

#include "peers/redis_load.hpp"

namespace quintet::bench {

// Counts with callgrind, as the slope between two runs of different length. One connection sends a request and waits
// for the reply before the next. The number of concurrent requests is then the same in every run.
measure_function measure_kv_instructions(redis_programs, server_care);

}  // namespace quintet::bench
