// SPDX-License-Identifier: BSL-1.0
// filtered: a client of a server whose connections have a toy_filter.
#pragma once

#include "client.hpp"

namespace quintet::test {

/// Returns a client that sends and receives records over `raw`. An end without the last record counts as a reset.
client filtered(client raw);

}  // namespace quintet::test
