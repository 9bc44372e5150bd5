// SPDX-License-Identifier: BSL-1.0
// handler: the handler types that a server accepts, and factories for handlers that cannot be copied.
#pragma once

#include "connection/handler.hpp"  // IWYU pragma: export
