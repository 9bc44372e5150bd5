// SPDX-License-Identifier: BSL-1.0
// urgent_input: filters the input of sessions whose handler answers some messages urgently, and sends the answers.
#include "connection_deadlines.hpp"
#include "connection_securing.hpp"
#include "session.hpp"
#include "urgent_frames.hpp"

namespace quintet::detail {
namespace {

// Returns the rest for the handler; nothing if the connection has ended. No handler is sending meanwhile: only this
// thread sends.
bytes answer(connection_core& c, bytes arrived, bool at_end, urgent_filter_call filter) noexcept try {
  auto& found = c.loop_.use<urgent_result>();
  found.begin(c.output_.urgent_room(c));
  const bytes left = filter(c, arrived, at_end, found);
  c.loop_.counters().urgent.add(found.answered);
  if (!found.reply.empty()) c.fail_if(c.output_.send_beside(c, found.reply));
  if (c.has_ended()) return {};
  // An urgent message is not the start of a message that the server waits for.
  const bool nothing_else = left.empty() && !found.holds_back && !c.baton_is_out() && c.input_.size() == 0;
  if (connection_deadlines* const d = c.deadlines(); d && nothing_else) d->answered();
  return left;
} catch (...) {
  connection_handoff::report_exception(c);
  c.loop_.counters().handler_errors.add();
  c.fail(errc::handler_threw);
  return {};
}

}  // namespace

void receive_filtered(connection_core& c, bytes arrived, urgent_filter_call filter) noexcept {
  if (!c.accepts(arrived.size())) return;
  if (connection_securing::is_in_progress(c)) return connection_securing::received(c, arrived);
  const bytes left = answer(c, arrived, false, filter);
  left.empty() ? c.watch_time() : c.take_in(left);
}

void end_filtered(connection_core& c, urgent_filter_call filter) noexcept {
  if (c.is_lingering() || connection_securing::is_in_progress(c)) return;
  if (const bytes last = answer(c, {}, true, filter); !last.empty()) c.take_in(last);
}

}  // namespace quintet::detail
