// SPDX-License-Identifier: BSL-1.0
// tls: certificates of listeners and clients that speak TLS, and what is known of their connections. Link quintet::tls.
#pragma once

#include "connection/peer_info.hpp"           // IWYU pragma: export
#include "engine/tls/tls_client_context.hpp"  // IWYU pragma: export
#include "engine/tls/tls_context.hpp"         // IWYU pragma: export
#include "names/tls_info.hpp"                 // IWYU pragma: export
