// SPDX-License-Identifier: BSL-1.0
// model_statistics: what a server or a client counts together with its threading model.
#pragma once

#include "offload_statistics.hpp"
#include "worker_statistics.hpp"

namespace quintet {

/// `Base` is server_statistics or client_statistics.
template <class Base>
struct with_compute : Base, offload_statistics {
  worker_statistics workers;
};

}  // namespace quintet
