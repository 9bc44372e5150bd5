// SPDX-License-Identifier: BSL-1.0
// executor: the executor of a loop's Asio guest.
#pragma once

#include "loop/executor.hpp"  // IWYU pragma: export
