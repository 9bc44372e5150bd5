// SPDX-License-Identifier: BSL-1.0
// segments: maps the files that /proc shows, for reading only.
#include "segments.hpp"

#include <quintet/net/engine/shm/segment_pool.hpp>
#include <quintet/net/file_descriptor.hpp>

#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bus_top {
namespace {

using namespace quintet;

ring_state state_of(const shm::ring_control& ring) noexcept {
  return {.produced = ring.produced.load(std::memory_order_relaxed),
          .consumed = ring.consumed.load(std::memory_order_relaxed),
          .reader_sleeps = ring.consumer_sleeps.load(std::memory_order_relaxed) != 0,
          .writer_waits = ring.producer_waits.load(std::memory_order_relaxed) != 0};
}

// A file is a row of places, each a segment that begins with its two controls, at a multiple of a page.
file_state look_at(const file_descriptor& file, std::size_t ring_size) {
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) return {};
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t stride = shm::place_size(ring_size);
  file_state f{.size = static_cast<std::size_t>(found.st_size),
               .places = static_cast<std::size_t>(found.st_size) / stride,
               .resident = static_cast<std::size_t>(found.st_blocks) * 512,
               .used = {}};
  for (std::size_t i = 0; i < f.places; ++i) {
    void* const at = ::mmap(nullptr, page, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(i * stride));
    if (at == MAP_FAILED) continue;
    const auto* const controls = static_cast<const shm::ring_control*>(at);
    const place_state p{.place = i, .rings = {state_of(controls[0]), state_of(controls[1])}};
    // The node has ended the streams of places that it has left.
    const bool is_in_use = (p.rings[0].produced != 0 || p.rings[1].produced != 0) &&
                           controls[0].end.load(std::memory_order_relaxed) == shm::stream_end::none;
    (void)::munmap(at, page);
    if (is_in_use) f.used.push_back(p);
  }
  return f;
}

}  // namespace

std::vector<file_state> files_of(pid_t process, std::size_t ring_size) {
  std::vector<file_state> all;
  if (!shm::is_ring_size(ring_size)) return all;  // the node's word
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", failed)) {
    const std::string to = std::filesystem::read_symlink(entry, failed).string();
    if (!to.starts_with("/memfd:quintet")) continue;
    const file_state f = look_at(file_descriptor(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC)), ring_size);
    if (f.places > 0) all.push_back(f);
  }
  return all;
}

}  // namespace bus_top
