// SPDX-License-Identifier: BSL-1.0
// event_loop: one thread's reactor: an engine, timers, an inbox, and an io_context for Asio's clients.
#pragma once

#include "loop/event_loop.hpp"  // IWYU pragma: export
