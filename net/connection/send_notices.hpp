// SPDX-License-Identifier: BSL-1.0
// send_notices: functions that wait until what was written before them has been sent.
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
  [[nodiscard]] virtual const std::type_info& type() const noexcept = 0;  // of what it calls
  std::uint64_t position_ = 0;                                            // how many bytes have to leave before
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

/// In the order of asking, which is that of their positions. No thread affinity of its own.
class send_notices {
 public:
  send_notices() noexcept = default;
  send_notices(const send_notices&) = delete;
  send_notices& operator=(const send_notices&) = delete;
  ~send_notices();

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  void add(std::unique_ptr<send_notice> fresh, std::uint64_t position) noexcept;
  /// Takes over all of the others, whose positions are counted from `base`.
  void take(send_notices& others, std::uint64_t base) noexcept;
  /// Whether the first of them is due when so many bytes have left.
  [[nodiscard]] bool is_due(std::uint64_t sent) const noexcept;
  /// Calls and destroys those that are due, without an error; returns how many have thrown.
  unsigned tell_due(std::uint64_t sent) noexcept;
  /// Calls and destroys all of them, with this error; returns how many have thrown.
  unsigned tell_all(error_code why) noexcept;

 private:
  unsigned tell_first(error_code why) noexcept;
  boost::intrusive::list<send_notice> waiting_;  // owned
};

}  // namespace quintet
