// SPDX-License-Identifier: BSL-1.0
// connection_extras: forwards the timer, the end of the turn and the quantum to the connection.
#include "connection_extras.hpp"

#include "connection_core.hpp"

namespace quintet::detail {

void end_of_turn_work::run(work_item& item) noexcept { static_cast<end_of_turn_work&>(item).context.turn_ends(); }
void connection_loop_extras::expired() noexcept { end.context.expired(); }
void connection_loop_extras::run_quantum() noexcept { end.context.continue_writing(); }

}  // namespace quintet::detail
