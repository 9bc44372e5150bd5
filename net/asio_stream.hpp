// SPDX-License-Identifier: BSL-1.0
// asio_stream: handlers on Asio's streams, for what stands on them: composed operations, ssl::stream, Beast.
#pragma once

#include "connection/asio_messages.hpp"  // IWYU pragma: export
#include "connection/asio_session.hpp"   // IWYU pragma: export
#include "connection/asio_stream.hpp"    // IWYU pragma: export
