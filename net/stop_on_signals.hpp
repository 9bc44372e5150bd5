// SPDX-License-Identifier: BSL-1.0
// stop_on_signals: SIGINT and SIGTERM end a server, at once or in good order.
#pragma once

#include "loop/stop_on_signals.hpp"  // IWYU pragma: export
