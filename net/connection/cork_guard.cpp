// SPDX-License-Identifier: BSL-1.0
// cork_guard: sends the corked output, unless an exception ends the batch.
#include "cork_guard.hpp"

#include "connection.hpp"

#include <exception>

namespace quintet {

cork_guard::cork_guard(connection& of) noexcept : connection_(&of), exceptions_(std::uncaught_exceptions()) {}
void cork_guard::end() const noexcept { connection_->uncork(std::uncaught_exceptions() == exceptions_); }

}  // namespace quintet
