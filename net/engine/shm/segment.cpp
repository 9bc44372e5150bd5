// SPDX-License-Identifier: BSL-1.0
// segment: creates, seals, checks and maps the memory.
#include "segment.hpp"

#include "segment_pool.hpp"

#include <cerrno>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quintet::shm {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

error_code last_error() noexcept { return system_error_code(errno); }

error_code map(int file, std::size_t size, std::uint64_t offset, char*& mapped) noexcept {
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  if (at == MAP_FAILED) return last_error();
  mapped = static_cast<char*>(at);
  return {};
}

bool has_segment(int file, std::size_t ring_size, std::uint64_t offset) noexcept {
  struct stat found{};
  if (!is_ring_size(ring_size) || ::fstat(file, &found) != 0) return false;
  const int sealed = ::fcntl(file, F_GET_SEALS);  // fails unless the file is in memory
  const auto size = static_cast<std::uint64_t>(found.st_size);
  return sealed >= 0 && (sealed & seals) == seals && size >= segment_size(ring_size) &&
         offset <= size - segment_size(ring_size);
}

}  // namespace

error_code make_sealed_file(std::size_t size, file_descriptor& file, char*& mapped) noexcept {
  file_descriptor memory(::memfd_create("quintet", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, seals) != 0)
    return last_error();
  if (const error_code failed = map(memory.get(), size, 0, mapped)) return failed;
  file = std::move(memory);
  return {};
}

segment::segment() noexcept = default;

segment::segment(char* mapped, std::size_t ring_size, std::unique_ptr<segment_lease> lease) noexcept
    : base_(mapped), lease_(std::move(lease)), ring_size_(static_cast<std::uint32_t>(ring_size)), is_creator_(true) {}

segment::segment(segment&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      lease_(std::move(other.lease_)),
      ring_size_(other.ring_size_),
      is_creator_(other.is_creator_) {}

segment& segment::operator=(segment&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(lease_, other.lease_);
  std::swap(ring_size_, other.ring_size_);
  std::swap(is_creator_, other.is_creator_);
  return *this;
}

segment::~segment() {
  if (base_ && !lease_) (void)::munmap(base_, segment_size(ring_size_));
}

error_code segment::create(std::size_t ring_size, std::shared_ptr<closed_segments> closed, segment& made,
                           file_descriptor& file) {
  char* mapped = nullptr;
  const std::size_t size = segment_size(ring_size);
  if (const error_code failed = make_sealed_file(size, file, mapped)) return failed;
  std::unique_ptr<segment_lease> lease;
  try {
    lease = std::make_unique<segment_lease>(mapped, size, std::move(closed));
  } catch (const std::bad_alloc&) {
    (void)::munmap(mapped, size);
    throw;
  }
  made = segment(mapped, ring_size, std::move(lease));
  return {};
}

error_code segment::attach(const file_descriptor& file, std::size_t ring_size, std::uint64_t offset,
                           segment& made) noexcept {
  if (!has_segment(file.get(), ring_size, offset)) return system_error_code(EPROTO);
  char* mapped = nullptr;
  const error_code failed = map(file.get(), segment_size(ring_size), offset, mapped);
  if (failed) return failed == boost::system::errc::invalid_argument ? system_error_code(EPROTO) : failed;
  made = segment(mapped, ring_size, nullptr);
  made.is_creator_ = false;
  return {};
}

void segment::note_offer(pid_t process) noexcept {
  if (lease_) lease_->note_offer(process);
}

bool segment::leave(int socket) noexcept {
  if (!lease_ || !segment_lease::leave(lease_, socket)) return false;
  base_ = nullptr;
  return true;
}

// Zeroed memory is an empty ring. Its objects live in both processes at once.
ring_control& segment::control(bool of_creator) const noexcept {
  return reinterpret_cast<ring_control*>(base_)[of_creator ? 0 : 1];
}

std::span<char> segment::ring(bool of_creator) const noexcept {
  return {base_ + segment_size(0) + (of_creator ? 0 : ring_size_), ring_size_};
}

}  // namespace quintet::shm
