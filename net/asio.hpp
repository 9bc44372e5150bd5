// SPDX-License-Identifier: BSL-1.0
// asio: lets a quintet coroutine co_await Asio's operations on its own loop.
#pragma once

#include "loop/asio.hpp"  // IWYU pragma: export
