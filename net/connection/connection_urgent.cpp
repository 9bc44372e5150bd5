// SPDX-License-Identifier: BSL-1.0
// connection_urgent: what is answered on the loop although the handler is at work, or its batch waits for a pool.
#include "connection.hpp"

#include "urgent_frames.hpp"

#include <new>
#include <string>

namespace quintet {

// What is left of it for the handler; nothing when the connection is over. No handler is in the middle of sending what
// it writes: that is done on the loop only, which is here.
bytes connection::sift(bytes arrived, bool at_end) noexcept try {
  auto& found = loop_.use<detail::urgent_findings>();
  found.begin(takes_from_outside() && !state_.above_watermark);
  const bytes left = run_sift(arrived, at_end, found);
  loop_.counters().urgent.add(found.answered);
  if (!found.reply.empty()) send_beside(found.reply, nullptr, false);
  if (state_.failing) return {};
  // It is no beginning of a message that somebody waits for.
  const bool nothing_else = left.empty() && !found.holds_back && !state_.baton_out && !state_.has_ahead;
  if (connection_deadlines* const d = deadlines(); d && nothing_else && !baton_.has_input) d->answered();
  return left;
} catch (...) {
  report_exception();
  loop_.counters().handler_errors.add();
  fail(errc::handler_threw);
  return {};
}

}  // namespace quintet
