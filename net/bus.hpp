// SPDX-License-Identifier: BSL-1.0
// bus: nodes that send messages to each other by id, over the fastest route that works.
#pragma once

#include "bus/bus_node.hpp"  // IWYU pragma: export
