// SPDX-License-Identifier: BSL-1.0
// stop_on_signals: SIGINT and SIGTERM stop or drain a server.
#pragma once

#include "loop/stop_on_signals.hpp"  // IWYU pragma: export
