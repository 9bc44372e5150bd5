// SPDX-License-Identifier: BSL-1.0
// shared_memory_client: a blocking client over shared memory, for programs without an event loop.
#pragma once

#include "engine/shm/client.hpp"  // IWYU pragma: export
