// SPDX-License-Identifier: BSL-1.0
// thread_model: the only two questions that a server asks about threads: where does a connection live, who runs this?
#pragma once

#include "loop/thread_model.hpp"  // IWYU pragma: export
