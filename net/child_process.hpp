// SPDX-License-Identifier: BSL-1.0
// child_process: a program that a loop starts, and whose end is an event of the loop.
#pragma once

#include "loop/child_process.hpp"  // IWYU pragma: export
