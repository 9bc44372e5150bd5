// SPDX-License-Identifier: BSL-1.0
// segments: reads the files that /proc shows. Their process may be hostile.
#include "segments.hpp"

#include <quintet/net/engine/shm/segment_pool.hpp>
#include <quintet/net/file_descriptor.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
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

// The most slots of one file, as connections_per_file allows, and of all files. Reading more would take too long.
constexpr std::size_t most_of_file = 1024, most_places = 64 * 1024;

/// The beginning of a place, as the kernel copies it: to map a file that its process may shorten is a risk of SIGBUS.
class controls {
 public:
  [[nodiscard]] bool read_from(const file_descriptor& file, std::size_t offset) noexcept {
    const ssize_t n = ::pread(file.get(), copy_.data(), copy_.size(), static_cast<off_t>(offset));
    return n == static_cast<ssize_t>(copy_.size());
  }
  [[nodiscard]] const shm::ring_control& operator[](std::size_t i) const noexcept {
    return reinterpret_cast<const shm::ring_control*>(copy_.data())[i];
  }

 private:
  alignas(shm::ring_control) std::array<char, 2 * sizeof(shm::ring_control)> copy_{};
};

// A file is a row of places, each a segment that begins with its two controls, at a multiple of a page.
file_state read_state(const file_descriptor& file, std::size_t ring_size) {
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  const std::size_t stride = shm::place_size(ring_size);
  file_state f{.size = static_cast<std::size_t>(found.st_size),
               .places = static_cast<std::size_t>(found.st_size) / stride,
               .resident = static_cast<std::size_t>(found.st_blocks) * 512,
               .used = {}};
  if (f.places > most_of_file) return {};  // no node makes such a file
  controls of;
  for (std::size_t i = 0; i < f.places && of.read_from(file, i * stride); ++i) {
    const place_state p{.place = i, .rings = {state_of(of[0]), state_of(of[1])}};
    // The node has ended the streams of places that it has left.
    if ((p.rings[0].produced != 0 || p.rings[1].produced != 0) &&
        of[0].end.load(std::memory_order_relaxed) == shm::stream_end::none)
      f.used.push_back(p);
  }
  return f;
}

}  // namespace

std::vector<file_state> files_of(pid_t process, std::size_t ring_size) {
  std::vector<file_state> all;
  if (!shm::is_ring_size(ring_size)) return all;  // the node's word
  std::error_code failed;                         // the process may end at any time
  std::filesystem::directory_iterator entry("/proc/" + std::to_string(process) + "/fd", failed);
  std::size_t places = 0;
  for (; !failed && entry != std::filesystem::directory_iterator() && places < most_places; entry.increment(failed)) {
    std::error_code closed;
    if (!std::filesystem::read_symlink(*entry, closed).string().starts_with("/memfd:quintet")) continue;
    // O_NONBLOCK: the number may meanwhile be a pipe's.
    const file_descriptor file(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    file_state f = read_state(file, ring_size);
    places += f.places;
    if (f.places > 0) all.push_back(std::move(f));
  }
  return all;
}

}  // namespace bus_top
