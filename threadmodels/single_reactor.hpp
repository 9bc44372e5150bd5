// SPDX-License-Identifier: BSL-1.0
// single_reactor: model 2: one thread accepts, does all I/O and runs every handler.
#pragma once

#include <quintet/threadmodels/composed_model.hpp>

namespace quintet {

class single_reactor : public composed_model<on_main_loop, run_inline> {};

}  // namespace quintet
