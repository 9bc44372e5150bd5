// SPDX-License-Identifier: BSL-1.0
// memory_group.cpp: the files of a memory control group.
#include "stress/memory_group.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <system_error>
#include <utility>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

bool put(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  return static_cast<bool>(out);
}

std::uint64_t number_in_file(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  in >> value;
  return value;
}

/// Returns the number after `name` in a file with lines such as "name 12".
std::uint64_t number_after(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  for (std::string word; in >> word >> value;)
    if (word == name) return value;
  return 0;
}

std::string next_name() {
  static std::atomic<unsigned> made{0};
  return fmt::format("quintet-bench-{}-{}", ::getpid(), made.fetch_add(1));
}

}  // namespace

std::optional<memory_group> memory_group::make(std::size_t bytes) {
  const fs::path root = "/sys/fs/cgroup";
  const bool second = fs::exists(root / "cgroup.controllers");
  const fs::path above = second ? root : root / "memory";
  // Errors are ignored here: it may be enabled already, and later steps check.
  if (second) put(above / "cgroup.subtree_control", "+memory");
  const fs::path where = above / next_name();
  std::error_code failed;
  if (!fs::create_directory(where, failed)) return std::nullopt;
  memory_group made(where, second);
  if (!put(where / (second ? "memory.max" : "memory.limit_in_bytes"), std::to_string(bytes))) return std::nullopt;
  // Forbids swap. A kernel without swap accounting has no such file.
  put(where / (second ? "memory.swap.max" : "memory.memsw.limit_in_bytes"), second ? "0" : std::to_string(bytes));
  return made;
}

memory_group::memory_group(memory_group&& other) noexcept
    : where_(std::exchange(other.where_, fs::path())), second_(other.second_) {}

memory_group::~memory_group() {
  std::error_code ignored;
  if (!where_.empty()) fs::remove(where_, ignored);  // rmdir
}

bool memory_group::take(pid_t process) const { return put(where_ / "cgroup.procs", std::to_string(process)); }

std::uint64_t memory_group::killed() const {
  return number_after(where_ / (second_ ? "memory.events" : "memory.oom_control"), "oom_kill");
}

std::uint64_t memory_group::peak() const {
  return number_in_file(where_ / (second_ ? "memory.peak" : "memory.max_usage_in_bytes"));
}

}  // namespace quintet::bench
