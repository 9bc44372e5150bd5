// SPDX-License-Identifier: BSL-1.0
// asio_names: short names, and a small server, for tests of handlers on Asio's streams.
#pragma once

#include <quintet/threadmodels/config.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace quintet::test {

namespace asio = boost::asio;
using asio::use_awaitable;
inline constexpr auto as_result = asio::as_tuple(use_awaitable);

/// Two loops, and a pool of one or two threads.
inline config of(model kind) { return {.model = kind, .threads = {.loops = 2, .workers = {1, 2}}}; }

}  // namespace quintet::test
