// SPDX-License-Identifier: BSL-1.0
// asio_wake_ups: proves that a thread that waits in an io_context can be woken.
#pragma once

#include <boost/asio/io_context.hpp>

namespace quintet::detail {

/// [before run] Opens the descriptors of a new io_context, and checks that the kernel watches them. Boost.Asio ignores
/// a refusal (ENOSPC, ENOMEM): posts from other threads and timers would then never end a wait. Nobody else may use the
/// context yet. Throws boost::system::system_error.
void prove_wake_ups(boost::asio::io_context& fresh);

}  // namespace quintet::detail
