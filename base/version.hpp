// SPDX-License-Identifier: BSL-1.0
// version: the version of the library, for checks by the preprocessor.
#pragma once

#define QUINTET_VERSION_MAJOR 0
#define QUINTET_VERSION_MINOR 1
#define QUINTET_VERSION_PATCH 0
#define QUINTET_VERSION_STRING "0.1.0"
