// SPDX-License-Identifier: BSL-1.0
// resource_reserve: frees reserved descriptors and memory, and acquires them again.
#include "resource_reserve.hpp"

#include <sys/eventfd.h>

#include <chrono>

namespace quintet {
namespace {

constexpr duration pause_between_tries = std::chrono::milliseconds(100);
constexpr int most_failed_frees = 4;  // tries whose freed descriptor another thread took; then accepting pauses

}  // namespace

// Each descriptor has its own file, because the system may run out of files, too (ENFILE).
void resource_reserve::refill() noexcept {
  if (is_full()) return;
  try {
    descriptors_.reserve(wanted_descriptors_);
    while (descriptors_.size() < wanted_descriptors_) {
      file_descriptor one(::eventfd(0, EFD_CLOEXEC));
      if (!one) break;
      descriptors_.push_back(std::move(one));
    }
  } catch (const std::bad_alloc&) {  // the timer tries again
  }
  if (!memory_ && wanted_memory_ > 0) memory_.reset(new (std::nothrow) std::byte[wanted_memory_]);
}

bool resource_reserve::try_free_descriptor(error_code why) noexcept {
  if (why != boost::system::errc::too_many_files_open && why != boost::system::errc::too_many_files_open_in_system)
    return false;
  if (!pending()) loop_.start(*this, pause_between_tries);
  if (descriptors_.empty() || unsuccessful_frees_ == most_failed_frees) {
    unsuccessful_frees_ = 0;
    return false;
  }
  ++unsuccessful_frees_;
  descriptors_.pop_back();
  descriptors_given_.add();
  return true;
}

bool resource_reserve::free_memory() noexcept {
  if (!memory_) return false;
  memory_.reset();
  memory_given_.add();
  if (!pending()) loop_.start(*this, pause_between_tries);
  return true;
}

void resource_reserve::expired() noexcept {
  refill();
  if (!is_full()) loop_.start(*this, pause_between_tries);
}

}  // namespace quintet
