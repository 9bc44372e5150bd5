// SPDX-License-Identifier: BSL-1.0
// event_loop: one thread's reactor: an engine, timers, an inbox, and a guest io_context for every other Asio client.
#pragma once

#include "loop/event_loop.hpp"  // IWYU pragma: export
