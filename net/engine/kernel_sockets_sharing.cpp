// SPDX-License-Identifier: BSL-1.0
// kernel_sockets_sharing: listening sockets that share a port: steers connections, ends listening, reads limits.
#include "file_descriptor.hpp"
#include "kernel_sockets.hpp"

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <vector>

namespace quintet {
namespace {

/// Returns a BPF program that maps the current CPU to the index of its socket, and any other CPU to some index.
std::vector<sock_filter> steering_program(std::span<const int> cpus) {
  std::vector<sock_filter> program;
  program.reserve(2 * cpus.size() + 3);
  const auto add = [&](std::uint16_t code, std::uint32_t k, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    program.push_back({code, if_true, if_false, k});
  };
  add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_CPU));
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(cpus[i]), 0, 1);
    add(BPF_RET | BPF_K, static_cast<std::uint32_t>(i));
  }
  add(BPF_ALU | BPF_MOD | BPF_K, static_cast<std::uint32_t>(cpus.size()));
  add(BPF_RET | BPF_A, 0);
  return program;
}

}  // namespace

error_code kernel_sockets::steer_by_cpu(std::span<const int> handles, std::span<const int> cpus) noexcept {
  if (handles.size() == 1)
    return {};  // it gets all connections; the kernel makes no group of one, and takes no program
  try {
    std::vector<sock_filter> program = steering_program(cpus);
    if (program.size() > BPF_MAXINSNS) return make_error_code(boost::system::errc::value_too_large);
    const sock_fprog attached{static_cast<unsigned short>(program.size()), program.data()};
    if (::setsockopt(handles.front(), SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &attached, sizeof attached) != 0)
      return system_error_code(errno);
  } catch (const std::bad_alloc&) {
    return make_error_code(boost::system::errc::not_enough_memory);
  }
  // A hint for kernel code that scores sockets one by one. The program decides within the group.
  for (std::size_t i = 0; i < handles.size(); ++i)
    (void)::setsockopt(handles[i], SOL_SOCKET, SO_INCOMING_CPU, &cpus[i], sizeof cpus[i]);
  return {};
}

int kernel_sockets::receiving_cpu(int handle) const noexcept {
  int cpu = -1;
  socklen_t size = sizeof cpu;
  return ::getsockopt(handle, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &size) == 0 ? cpu : -1;
}

int kernel_sockets::largest_backlog() const noexcept {
  const file_descriptor file(::open("/proc/sys/net/core/somaxconn", O_RDONLY | O_CLOEXEC));
  std::array<char, 16> text{};  // a stream would allocate
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  int most = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, most);
  return most;
}

// Linux gives the length of a TCP listener's queue in this field. It has no such field for Unix sockets.
int kernel_sockets::waiting(int listening) const noexcept {
  tcp_info about{};
  socklen_t size = sizeof about;
  if (::getsockopt(listening, IPPROTO_TCP, TCP_INFO, &about, &size) != 0 || about.tcpi_state != TCP_LISTEN) return -1;
  return static_cast<int>(about.tcpi_unacked);
}

// Unlike close(), shutdown() affects the socket, whatever descriptors refer to it.
void kernel_sockets::stop_listening(int handle) noexcept { (void)::shutdown(handle, SHUT_RDWR); }

}  // namespace quintet
