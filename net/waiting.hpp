// SPDX-License-Identifier: BSL-1.0
// waiting: sleep_for, sleep_until and event, for coroutines.
#pragma once

#include "loop/waiting.hpp"  // IWYU pragma: export
