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
  /// Creates the eventfd with `flags` and EFD_CLOEXEC. Throws boost::system::system_error.
  explicit wake_event(int flags) : descriptor_(::eventfd(0, EFD_CLOEXEC | flags)) {
    if (!descriptor_) throw_system_error(errno, "cannot create an event loop: eventfd");
  }
  [[nodiscard]] const file_descriptor& descriptor() const noexcept { return descriptor_; }
  /// [any thread] Makes the descriptor readable.
  void raise() noexcept {
    const std::uint64_t one = 1;
    (void)!::write(descriptor_.get(), &one, sizeof one);  // fails only if the counter is full, hence readable
  }
  /// [loop] Resets the counter. Without EFD_NONBLOCK, blocks unless the descriptor is readable.
  void on_event() noexcept override {
    std::uint64_t ignored = 0;
    (void)!::read(descriptor_.get(), &ignored, sizeof ignored);
  }

 private:
  file_descriptor descriptor_;
};

}  // namespace quintet
