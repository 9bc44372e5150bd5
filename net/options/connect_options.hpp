// SPDX-License-Identifier: BSL-1.0
// connect_options: the time limits of one attempt to connect, and what its socket is like.
#pragma once

#include "../../base/clock.hpp"

#include <chrono>

namespace quintet {

struct connect_options {
  duration timeout = std::chrono::seconds(10);  ///< of looking up and connecting together; zero: the system's
  duration attempt_delay = std::chrono::milliseconds(250);  ///< before the next address is tried as well
  int send_buffer = 0;     ///< bytes of kernel memory for what is to be sent; 0: the kernel grows it as it sees fit
  int receive_buffer = 0;  ///< the same for what has arrived
  std::chrono::seconds keep_alive{0};         ///< as in listener_settings; zero: no probes
  std::chrono::milliseconds user_timeout{0};  ///< as in listener_settings; zero: the system's limit
};
/// Throws config_error.
void validate(const connect_options& options);

}  // namespace quintet
