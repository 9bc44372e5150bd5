// SPDX-License-Identifier: BSL-1.0
// send_notices: functions that wait until the output written before them has been sent.
#pragma once

#include "../../base/error.hpp"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <memory>
#include <typeinfo>
#include <utility>

namespace quintet {

/// One function, behind connection::when_sent().
class send_notice : public boost::intrusive::list_base_hook<> {
 public:
  virtual ~send_notice() = default;

 private:
  friend class send_notices;
  virtual void call(error_code why) = 0;
  [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;  // type of the function
  std::uint64_t position_ = 0;                                            // number of bytes that must be sent first
};

template <class F>
class send_notice_of final : public send_notice {
 public:
  explicit send_notice_of(F f) : function_(std::move(f)) {}

 private:
  void call(error_code why) override { function_(why); }
  [[nodiscard]] const std::type_info& type() const noexcept override { return typeid(F); }
  F function_;
};

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
  unsigned tell_due(std::uint64_t sent) noexcept;
  /// Calls and destroys all notices with `why`; returns how many threw.
  unsigned tell_all(error_code why) noexcept;

 private:
  unsigned tell_first(error_code why) noexcept;
  boost::intrusive::list<send_notice> waiting_;  // owned
};

}  // namespace quintet
