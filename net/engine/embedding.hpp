// SPDX-License-Identifier: BSL-1.0
// embedding: lets a foreign loop wait for an engine, by a descriptor or by a shared io_context.
#pragma once

#include <functional>
#include <utility>

namespace boost::asio {
class io_context;
}

namespace quintet {

/// [loop] Provided by an engine (engine::embedding()) if another loop can wait on its behalf: the program's loop, or
/// the io_context of the loop's guest.
class engine_embedding {
 public:
  engine_embedding(const engine_embedding&) = delete;
  engine_embedding& operator=(const engine_embedding&) = delete;

  /// Returns a descriptor that is readable when engine::poll() has work, or -1. It may change between two waits.
  [[nodiscard]] virtual int descriptor() noexcept { return -1; }
  /// Registers `f`, which the engine calls before it drops a descriptor that descriptor() may have returned. A loop
  /// that watches the descriptor must then stop, since the number may be closed and reused.
  void on_descriptor_closing(std::function<void()> f) { descriptor_closing_ = std::move(f); }
  /// Returns the io_context in which this engine waits, or nullptr. The engine's poll() runs the guest's handlers.
  [[nodiscard]] virtual boost::asio::io_context* context() noexcept { return nullptr; }
  /// Called when the loop ends: stops watching all channels and destroys the outstanding operations of context().
  /// Afterwards context() is a fresh one, or nullptr if memory has run out.
  virtual void abandon() noexcept {}

 protected:
  engine_embedding() = default;
  ~engine_embedding() = default;
  void notify_descriptor_closing() const {
    if (descriptor_closing_) descriptor_closing_();
  }

 private:
  std::function<void()> descriptor_closing_;
};

}  // namespace quintet
