// SPDX-License-Identifier: BSL-1.0
// bad_request: tells a client's mistake in HTTP from its end, by the error of Beast's read.
#pragma once

#include <quintet/base/error.hpp>

#include <boost/beast/http/error.hpp>

namespace example {

/// Returns whether the client has sent something that is no request; if not, it has closed, or a limit has expired.
inline bool is_bad_request(const quintet::error_code& why) {
  using boost::beast::http::error;
  const bool has_closed = why == error::end_of_stream || why == error::partial_message;
  return why.category() == make_error_code(error::end_of_stream).category() && !has_closed;
}

}  // namespace example
