// SPDX-License-Identifier: BSL-1.0
// connection_extras: forwards the timer, the end of the turn and the quantum to the connection.
#include "connection_extras.hpp"

#include "connection_core.hpp"

namespace quintet::detail {

void connection_turn_end::run(work_item& item) noexcept { static_cast<connection_turn_end&>(item).of.turn_ends(); }
void connection_loop_extras::expired() noexcept { end.of.expired(); }
void connection_loop_extras::run_quantum() noexcept { end.of.continue_writing(); }

}  // namespace quintet::detail
