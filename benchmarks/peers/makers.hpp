// SPDX-License-Identifier: BSL-1.0
// makers.hpp: factories of peers, so that other libraries' headers are included only in one source file each. For a
// library that is missing, QUINTET_PEER_<NAME> is nullptr instead of the factory's name.
#pragma once

#include "peers/peer_server.hpp"

namespace quintet::bench {

std::unique_ptr<peer_server> make_epoll_echo(const peer_options& o);
std::unique_ptr<peer_server> make_epoll_edge_echo(const peer_options& o);
std::unique_ptr<peer_server> make_blocking_echo(const peer_options& o);
std::unique_ptr<peer_server> make_asio_echo(const peer_options& o);
std::unique_ptr<peer_server> make_asio_coroutine_echo(const peer_options& o);
std::unique_ptr<peer_server> make_asio_shared_echo(const peer_options& o);
std::unique_ptr<peer_server> make_asio_separate_echo(const peer_options& o);
std::unique_ptr<peer_server> make_libevent_echo(const peer_options& o);
std::unique_ptr<peer_server> make_libuv_echo(const peer_options& o);
std::unique_ptr<peer_server> make_libev_echo(const peer_options& o);
std::unique_ptr<peer_server> make_tokio_echo(const peer_options& o);
std::unique_ptr<peer_server> make_asio_uring_echo(const peer_options& o);

constexpr std::string_view tokio_program = "tokio-echo", asio_uring_program = "asio-uring";
/// Receive size of a peer, if its library lets it choose. Untouched pages cost nothing.
constexpr std::size_t peer_buffer_bytes = 64 * 1024;

}  // namespace quintet::bench
