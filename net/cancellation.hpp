// SPDX-License-Identifier: BSL-1.0
// cancellation: why the work for a connection is no longer wanted, and a token to ask.
#pragma once

#include "loop/cancellation.hpp"  // IWYU pragma: export
