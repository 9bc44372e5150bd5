// SPDX-License-Identifier: BSL-1.0
// peer_server.cpp: the table of peers.
#include "peers/peer_server.hpp"

#include "listen.hpp"
#include "options.hpp"
#include "peers/makers.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace quintet::bench {
namespace {

constexpr std::array peers{
    peer_kind{"epoll", "", &make_epoll_echo},
    peer_kind{"epoll-edge", "", &make_epoll_edge_echo},
    peer_kind{"blocking", "", &make_blocking_echo},
    peer_kind{"asio", "", &make_asio_echo},
    peer_kind{"asio-coroutines", "", &make_asio_coroutine_echo},
    peer_kind{asio_uring_program, "liburing-dev", &make_asio_uring_echo, asio_uring_program},
    peer_kind{"libevent", "libevent-dev", QUINTET_PEER_LIBEVENT},
    peer_kind{"libuv", "libuv1-dev", QUINTET_PEER_LIBUV},
    peer_kind{"libev", "libev-dev", QUINTET_PEER_LIBEV},
    peer_kind{"asio-shared", "", &make_asio_shared_echo},
    peer_kind{"asio-separate", "", &make_asio_separate_echo},
    peer_kind{tokio_program, "cargo and configure with -DQUINTET_TOKIO_PEER=ON", &make_tokio_echo, tokio_program},
};

}  // namespace

listening_peer::listening_peer(const peer_options& o)
    : listening_(listen_on(o.address, o.port)), stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void listening_peer::stop() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
}

std::uint16_t listening_peer::port() const { return local_port(listening_); }

std::string path_beside(std::string_view name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

bool peer_kind::built_in() const {
  return make && (program.empty() || ::access(path_beside(program).c_str(), X_OK) == 0);
}

std::string peer_kind::absence() const {
  return std::string(name) + ": not built in; install " + std::string(package) + ", then build again";
}

std::span<const peer_kind> all_peers() { return peers; }

const peer_kind& require_peer(std::string_view name) {
  const auto* const found =
      std::find_if(peers.begin(), peers.end(), [&](const peer_kind& p) { return p.name == name; });
  if (found != peers.end() && !found->built_in()) throw usage_error(found->absence());
  if (found != peers.end()) return *found;
  std::string names;
  for (const peer_kind& p : peers) names += (names.empty() ? "" : ", ") + std::string(p.name);
  throw usage_error('"' + std::string(name) + "\" is not a peer; it must be one of: " + names);
}

}  // namespace quintet::bench
