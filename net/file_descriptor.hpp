// SPDX-License-Identifier: BSL-1.0
// file_descriptor: owns a descriptor and closes it.
#pragma once

#include "engine/file_descriptor.hpp"  // IWYU pragma: export
