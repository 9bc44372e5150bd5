// SPDX-License-Identifier: BSL-1.0
// segment: creates, seals, checks and maps the memory.
#include "segment.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace quintet::shm {
namespace {

// A page of the smallest size that Linux has; a larger page only means that a ring shares it.
constexpr std::size_t control_size = 4096;
static_assert(2 * sizeof(ring_control) <= control_size);
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

constexpr std::size_t file_size(std::size_t ring_size) noexcept { return control_size + 2 * ring_size; }
error_code last_error() noexcept { return system_error_code(errno); }

}  // namespace

segment::~segment() {
  if (base_) (void)::munmap(base_, file_size(ring_size_));
}

error_code segment::create(std::size_t ring_size, segment& made, file_descriptor& file) noexcept {
  file_descriptor memory(::memfd_create("quintet", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(file_size(ring_size))) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, seals) != 0)
    return last_error();
  segment fresh;
  if (const error_code failed = fresh.map(memory.get(), ring_size, true)) return failed;
  made = std::move(fresh);
  file = std::move(memory);
  return {};
}

error_code segment::attach(const file_descriptor& file, std::size_t ring_size, segment& made) noexcept {
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return last_error();
  const int sealed = ::fcntl(file.get(), F_GET_SEALS);  // fails unless the file is in memory
  if (!is_ring_size(ring_size) || found.st_size != static_cast<off_t>(file_size(ring_size)) || sealed < 0 ||
      (sealed & seals) != seals)
    return system_error_code(EPROTO);
  segment fresh;
  if (const error_code failed = fresh.map(file.get(), ring_size, false)) return failed;
  made = std::move(fresh);
  return {};
}

error_code segment::map(int file, std::size_t ring_size, bool is_creator) noexcept {
  void* const at = ::mmap(nullptr, file_size(ring_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return last_error();
  base_ = static_cast<char*>(at);
  ring_size_ = ring_size;
  is_creator_ = is_creator;
  return {};
}

// The file is zeroed, which is an empty ring. Its objects live in both processes at once.
ring_control& segment::control(bool of_creator) const noexcept {
  return reinterpret_cast<ring_control*>(base_)[of_creator ? 0 : 1];
}

std::span<char> segment::ring(bool of_creator) const noexcept {
  return {base_ + control_size + (of_creator ? 0 : ring_size_), ring_size_};
}

}  // namespace quintet::shm
