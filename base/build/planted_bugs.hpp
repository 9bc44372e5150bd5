// SPDX-License-Identifier: BSL-1.0
// planted_bugs: defects that a test of the tests switches on, one at a time; other builds have none.
#pragma once

namespace quintet::detail {

/// Each was a defect of this library, or is of a kind that it could have. net/tests/planted_bugs.cpp says where the
/// generator of call sequences must find it.
enum class bug : unsigned char {
  none,
  steps_are_reentered,            ///< a message that drains or closes runs the connection's next step within that step
  new_output_is_progress,         ///< more output restarts send_timeout
  outside_output_is_no_activity,  ///< output of registry.send() does not restart idle_timeout
  stop_walks_a_changing_list,     ///< a stopping loop continues from a member that was destroyed
  on_writable_is_lost,            ///< if output above the watermark leaves at once
  messages_are_torn,              ///< bytes from outside split a handler's message
  input_is_lost_on_a_move,        ///< pending input (read-ahead)
  output_is_lost_at_the_end,      ///< output that waits for a half-closed peer
};

// Only .cpp files use planted(): a program links objects that have the defects with others that do not.
#ifdef QUINTET_PLANTED_BUGS
inline namespace with_bugs {
inline bug planted_bug = bug::none;  ///< set before the first loop is made
[[nodiscard]] inline bool planted(bug b) noexcept { return planted_bug == b; }
}  // namespace with_bugs
#else
[[nodiscard]] constexpr bool planted(bug) noexcept { return false; }
#endif

}  // namespace quintet::detail
