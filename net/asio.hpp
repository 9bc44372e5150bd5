// SPDX-License-Identifier: BSL-1.0
// asio: lets a quintet coroutine co_await Asio's operations on its own loop, and runs a server in an io_context.
#pragma once

#include "loop/asio.hpp"         // IWYU pragma: export
#include "loop/asio_driver.hpp"  // IWYU pragma: export
#include "loop/asio_wait.hpp"    // IWYU pragma: export
