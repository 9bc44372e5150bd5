// SPDX-License-Identifier: BSL-1.0
// embedding: how a loop that is not the engine's own waits for it: by a descriptor, or by sharing an io_context.
#pragma once

#include <functional>
#include <utility>

namespace boost::asio {
class io_context;
}

namespace quintet {

/// An engine offers it (engine::embedding()) if another loop can wait on its behalf: that of the program, or the
/// io_context of the loop's guest. [loop]
class engine_embedding {
 public:
  engine_embedding(const engine_embedding&) = delete;
  engine_embedding& operator=(const engine_embedding&) = delete;

  /// A descriptor that is readable when engine::poll() has something to dispatch, or -1. It may change between two
  /// waits.
  [[nodiscard]] virtual int descriptor() noexcept { return -1; }
  /// The engine calls `f` before it forgets a descriptor that descriptor() may have returned. Another loop that watches
  /// the descriptor must then stop, before the number is closed and means something else.
  void before_descriptor_goes(std::function<void()> f) { descriptor_goes_ = std::move(f); }
  /// The io_context in which this engine waits, so that its poll() runs the handlers of the guest; or nullptr.
  [[nodiscard]] virtual boost::asio::io_context* context() noexcept { return nullptr; }
  /// When the loop ends: destroys what is outstanding in context(). Afterwards context() is a fresh one, or nullptr
  /// where there was no memory for it. No channel is watched any more.
  virtual void abandon() noexcept {}

 protected:
  engine_embedding() = default;
  ~engine_embedding() = default;
  void descriptor_goes() const {
    if (descriptor_goes_) descriptor_goes_();
  }

 private:
  std::function<void()> descriptor_goes_;
};

}  // namespace quintet
