// SPDX-License-Identifier: BSL-1.0
// reloadable: what was read from files, and can be read again while it is used.
#pragma once

#include "../../../base/error.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace quintet::tls {

/// The files that options name. `Files` is made from Options, and throws config_error. All functions: [any thread].
template <class Options, class Files>
class reloadable {
 public:
  explicit reloadable(Options o) : options_(std::move(o)), in_use_(std::make_shared<const Files>(options_)) {}

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  /// Whoever keeps the result is not concerned by a reload.
  [[nodiscard]] std::shared_ptr<const Files> in_use() const {
    const std::lock_guard lock(mutex_);
    return in_use_;
  }
  /// Returns the reason why nothing has changed, if so. Tries again within 40 ms: somebody may be between two renames.
  [[nodiscard]] std::optional<std::string> reload() {
    const std::lock_guard one(reloading_);
    for (int tries = 1;; ++tries) try {
        auto fresh = std::make_shared<const Files>(options_);
        {
          const std::lock_guard lock(mutex_);
          in_use_.swap(fresh);
        }
        ++reloads_;
        return std::nullopt;
      } catch (const config_error& why) {
        if (tries < most_tries) {
          std::this_thread::sleep_for(between_tries);
          continue;
        }
        ++failed_reloads_;
        return why.what();
      }
  }
  [[nodiscard]] std::uint64_t reloads() const noexcept { return reloads_; }
  [[nodiscard]] std::uint64_t failed_reloads() const noexcept { return failed_reloads_; }

 private:
  static constexpr int most_tries = 3;
  static constexpr auto between_tries = std::chrono::milliseconds(20);

  const Options options_;
  std::mutex reloading_;  // one at a time
  mutable std::mutex mutex_;
  std::shared_ptr<const Files> in_use_;  // guarded by mutex_
  std::atomic<std::uint64_t> reloads_{0}, failed_reloads_{0};
};

}  // namespace quintet::tls
