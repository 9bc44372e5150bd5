// SPDX-License-Identifier: BSL-1.0
// commands: what kv does for each request.
#pragma once

#include "replies.hpp"
#include "resp.hpp"
#include "store.hpp"

#include <quintet/base/log.hpp>

#include <cstddef>
#include <span>

namespace kv {

using request = std::span<const bytes>;

enum class after { next_request, close };

/// Carries out one request and writes its reply. `r`: at least one argument, the command's name. Returns `close` if the
/// request was the connection's last: QUIT, or a part of an HTTP request, which `log` is told.
after execute(store& data, request r, replies& to, const quintet::log_hook* log);

/// A command. The name counts as an argument.
struct known_command {
  bytes name;
  std::size_t min, max;
  void (*run)(store&, request, replies&);
};
[[nodiscard]] std::span<const known_command> known_commands() noexcept;

// Commands that set up and describe a connection (client_commands.cpp).
void hello(store&, request r, replies& c);
void client(store&, request r, replies& c);
void select(store&, request r, replies& c);
void config(store&, request r, replies& c);
void command(store&, request r, replies& c);
void info(store& s, request r, replies& c);

}  // namespace kv
