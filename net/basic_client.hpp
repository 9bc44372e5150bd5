// SPDX-License-Identifier: BSL-1.0
// basic_client: connect on the main loop, place by the model, run handlers where the model says.
#pragma once

#include "client/basic_client.hpp"  // IWYU pragma: export
