// SPDX-License-Identifier: BSL-1.0
// stream: a connection for coroutines. co_await read() returns the baton and waits for it and the next input.
#pragma once

#include "connection/stream.hpp"          // IWYU pragma: export
#include "connection/stream_session.hpp"  // IWYU pragma: export
#include "loop/waiting.hpp"               // IWYU pragma: export
