// SPDX-License-Identifier: BSL-1.0
// in_process: the nodes of this process, by their ids.
#pragma once

#include <cstdint>
#include <functional>

namespace quintet::bus {

class node;

/// [any thread] A table. A child process does not see the nodes of its parent.
namespace in_process {

/// Throws config_error if the id is taken.
void add(node& n);
void remove(node& n) noexcept;
/// Posts f(node) to the loop of the node with this id. Returns false if there is none, or it is `from` itself. Throws
/// std::bad_alloc.
[[nodiscard]] bool post_to(std::uint64_t id, const node& from, std::function<void(node&)> f);

}  // namespace in_process
}  // namespace quintet::bus
