// SPDX-License-Identifier: BSL-1.0
// wake_event: an eventfd that ends an engine's wait.
#pragma once

#include "engine.hpp"
#include "file_descriptor.hpp"

#include <boost/system/system_error.hpp>

#include <cerrno>
#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

namespace quintet {

class wake_event final : public event_channel {
 public:
  /// `flags`: of eventfd(2), besides EFD_CLOEXEC. Throws boost::system::system_error.
  explicit wake_event(int flags) : descriptor_(::eventfd(0, EFD_CLOEXEC | flags)) {
    if (!descriptor_) throw_system_error(errno, "cannot make a loop: eventfd");
  }
  [[nodiscard]] const file_descriptor& descriptor() const noexcept { return descriptor_; }
  /// [any thread]
  void raise() noexcept {
    const std::uint64_t one = 1;
    (void)!::write(descriptor_.get(), &one, sizeof one);  // fails only when the counter is full, that is, when it is up
  }
  /// Takes back what was raised. With EFD_NONBLOCK, or when it is up.
  void on_event() noexcept override {
    std::uint64_t ignored = 0;
    (void)!::read(descriptor_.get(), &ignored, sizeof ignored);
  }

 private:
  file_descriptor descriptor_;
};

}  // namespace quintet
