// SPDX-License-Identifier: BSL-1.0
// asio_beast: lets Beast's streams stand on quintet::asio_stream.
#pragma once

#include "connection/asio_beast.hpp"  // IWYU pragma: export
