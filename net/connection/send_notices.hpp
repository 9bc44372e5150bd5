// SPDX-License-Identifier: BSL-1.0
// send_notices: functions that wait until the output written before them has been sent.
#pragma once

#include "connection_output.hpp"

#include <cstdint>
#include <memory>

namespace quintet {

/// In the order of requests, which is the order of their positions. No thread affinity of its own.
class send_notices {
 public:
  send_notices() noexcept = default;
  send_notices(const send_notices&) = delete;
  send_notices& operator=(const send_notices&) = delete;
  ~send_notices();

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  void add(std::unique_ptr<send_notice> fresh, std::uint64_t position) noexcept;
  /// Takes over all notices of `others` and adds `base` to their positions.
  void take(send_notices& others, std::uint64_t base) noexcept;
  /// Returns whether the first notice is reached after `sent` bytes.
  [[nodiscard]] bool is_due(std::uint64_t sent) const noexcept;
  /// Calls and destroys the reached notices without an error; returns how many threw.
  unsigned call_due(std::uint64_t sent) noexcept;
  /// Calls and destroys all notices with `why`; returns how many threw.
  unsigned call_all(error_code why) noexcept;

 private:
  unsigned call_first(error_code why) noexcept;
  boost::intrusive::list<send_notice> waiting_;  // owned
};

}  // namespace quintet
