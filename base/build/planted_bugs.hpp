// SPDX-License-Identifier: BSL-1.0
// planted_bugs: defects that a test of the tests switches on, one at a time; in every other build there are none.
#pragma once

namespace quintet::detail {

/// Each was a defect of this library, or is of a kind that it could have. net/tests/planted_bugs.cpp says where the
/// generator of call sequences has to find them.
enum class bug : unsigned char {
  none,
  steps_are_reentered,            ///< a message that drains or closes runs the connection's next step within that step
  new_output_is_progress,         ///< send_timeout begins anew whenever there is more output
  outside_output_is_no_activity,  ///< idle_timeout does not see what registry.send() has sent
  stop_walks_a_changing_list,     ///< a loop that stops goes on from a member that has gone
  on_writable_is_lost,            ///< when the output leaves at once that was above the watermark
  messages_are_torn,              ///< bytes from outside lie within what a handler writes
  input_is_lost_on_a_move,        ///< what was read ahead
  output_is_lost_at_the_end,      ///< what still waits for a peer that has half-closed
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
