// SPDX-License-Identifier: BSL-1.0
// basic_server: a server whose threading model and handler are types.
#pragma once

#include "server/basic_server.hpp"  // IWYU pragma: export
