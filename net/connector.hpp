// SPDX-License-Identifier: BSL-1.0
// connector: one attempt to connect: looks a name up, tries its addresses (RFC 8305), keeps the first that answers.
#pragma once

#include "client/connector.hpp"  // IWYU pragma: export
