// SPDX-License-Identifier: BSL-1.0
// thread_model: numbers the models of a process.
#include "thread_model.hpp"

#include "../../base/work/next_number.hpp"

namespace quintet {

model_interface::model_interface() noexcept : number_(next_number<model_interface>()) {}

}  // namespace quintet
