// SPDX-License-Identifier: BSL-1.0
// loop_counters: the class of each reason why a connection has ended.
#include "loop_counters.hpp"

#include <algorithm>
#include <array>

namespace quintet {
namespace {

struct class_of_reason {
  errc why;
  counter loop_figures<counter>::* counts;
};

using figures = loop_figures<counter>;
constexpr auto classes = std::to_array<class_of_reason>({
    {errc::end_of_stream, &figures::closed_by_peer},
    {errc::stopped, &figures::closed_stopped},
    {errc::aborted, &figures::closed_aborted},
    {errc::handler_threw, &figures::closed_handler_threw},
    {errc::first_byte_timeout, &figures::closed_first_byte},
    {errc::idle_timeout, &figures::closed_idle},
    {errc::message_timeout, &figures::closed_message_timeout},
    {errc::send_timeout, &figures::closed_send_timeout},
    {errc::heartbeat_timeout, &figures::closed_silent},
    {errc::message_too_big, &figures::closed_input_overflow},
    {errc::input_overflow, &figures::closed_input_overflow},
    {errc::output_full, &figures::closed_output_overflow},
    {errc::output_overflow, &figures::closed_output_overflow},
    {errc::malformed_message, &figures::closed_protocol_error},
    {errc::incomplete_message, &figures::closed_protocol_error},
    {errc::bad_checksum, &figures::closed_protocol_error},
    {errc::stream_truncated, &figures::closed_protocol_error},
});

counter figures::* class_of(const error_code& why, bool drained) noexcept {
  if (!why) return drained ? &figures::closed_drained : &figures::closed_by_handler;
  if (why == boost::system::errc::not_enough_memory) return &figures::closed_no_memory;
  if (why.category() == boost::system::system_category()) return &figures::closed_reset;
  const auto* const found = std::ranges::find_if(classes, [&why](const class_of_reason& c) { return why == c.why; });
  return found == classes.end() ? &figures::closed_for_other_reason : found->counts;
}

}  // namespace

void loop_counters::count_closed(const error_code& why, bool drained) noexcept {
  closed.add();
  (this->*class_of(why, drained)).add();
}

}  // namespace quintet
