// SPDX-License-Identifier: BSL-1.0
// basic_server: accept, place by the model, run handlers where the model says.
#pragma once

#include "server/basic_server.hpp"  // IWYU pragma: export
