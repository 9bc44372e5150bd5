// SPDX-License-Identifier: BSL-1.0
// framed: callback handlers of messages instead of bytes, and messages written as frames.
#pragma once

#include "connection/framed.hpp"  // IWYU pragma: export
