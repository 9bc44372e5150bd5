// SPDX-License-Identifier: BSL-1.0
// framed: callback handlers that get messages instead of bytes, and write messages as frames.
#pragma once

#include "connection/framed.hpp"  // IWYU pragma: export
