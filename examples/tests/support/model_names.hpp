// SPDX-License-Identifier: BSL-1.0
// model_names: prints threading models in the names of test cases and in messages.
#pragma once

#include <quintet/threadmodels/model.hpp>

#include <ostream>

namespace quintet {
inline std::ostream& operator<<(std::ostream& out, model m) { return out << to_string(m); }
}  // namespace quintet
