// SPDX-License-Identifier: BSL-1.0
// version: the version of the library, for checks by the preprocessor and for programs that print it.
#pragma once

#include <string_view>

#define QUINTET_VERSION_MAJOR 0
#define QUINTET_VERSION_MINOR 1
#define QUINTET_VERSION_PATCH 0
#define QUINTET_VERSION_STRING "0.1.0"

namespace quintet {

/// The version of the library that the program is compiled with, such as "0.1.0". [any thread]
inline constexpr std::string_view version = QUINTET_VERSION_STRING;

}  // namespace quintet
