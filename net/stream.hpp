// SPDX-License-Identifier: BSL-1.0
// stream: a connection for coroutines. co_await read() gives the baton back and waits for it to return with input.
#pragma once

#include "connection/stream.hpp"          // IWYU pragma: export
#include "connection/stream_session.hpp"  // IWYU pragma: export
