// SPDX-License-Identifier: BSL-1.0
// child_process: a program that a loop starts, and whose end it learns of like of any other event.
#pragma once

#include "loop/child_process.hpp"  // IWYU pragma: export
