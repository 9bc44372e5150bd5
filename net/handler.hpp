// SPDX-License-Identifier: BSL-1.0
// handler: what a server accepts as a handler, and factories for handlers that cannot be copied.
#pragma once

#include "connection/handler.hpp"  // IWYU pragma: export
