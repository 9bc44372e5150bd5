// SPDX-License-Identifier: BSL-1.0
// backtrace: what addresses of a stack are called.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace quintet {

/// [any thread] `mangled`, as typeid(T).name() and linkers have it, as people write it; cut where it gets very long.
[[nodiscard]] std::string readable_name(const char* mangled);

/// [any thread] For each address of a stack, innermost first: the function, where the object that it is in exports its
/// name (a program: linked with -rdynamic), else the object and the place in it, for addr2line: "server+0x1f2e3".
[[nodiscard]] std::vector<std::string> describe_stack(std::span<void* const> addresses);

}  // namespace quintet
