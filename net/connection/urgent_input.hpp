// SPDX-License-Identifier: BSL-1.0
// urgent_input: for sessions whose handler answers some messages urgently: their input passes its filter first.
#pragma once

#include "../../base/bytes.hpp"

namespace quintet::detail {

class connection_core;
struct urgent_result;

/// Calls the handler's filter_urgent().
using urgent_filter_call = bytes (*)(connection_core& session, bytes arrived, bool at_end, urgent_result& found);

/// [loop] Take arrived input, and the end of it: answer urgent messages, even while the handler runs or its batch waits
/// for a pool. The rest is the handler's.
void receive_filtered(connection_core& c, bytes arrived, urgent_filter_call filter) noexcept;
void end_filtered(connection_core& c, urgent_filter_call filter) noexcept;

}  // namespace quintet::detail
