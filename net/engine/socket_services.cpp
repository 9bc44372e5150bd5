// SPDX-License-Identifier: BSL-1.0
// socket_services: the default of steer_by_cpu, for networks without CPUs.
#include "socket_services.hpp"

namespace quintet {

error_code socket_services::steer_by_cpu(std::span<const int>, std::span<const int>) noexcept {
  return make_error_code(boost::system::errc::operation_not_supported);
}

}  // namespace quintet
