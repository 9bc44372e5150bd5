// SPDX-License-Identifier: BSL-1.0
// backtrace: readable names for the addresses of a stack.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace quintet {

/// [any thread] Returns the type of a type_text(). Very long names are cut.
[[nodiscard]] std::string readable_type(const char* text);
/// [any thread] Demangles a name of a linker. Very long names are cut.
[[nodiscard]] std::string readable_name(const char* mangled);

/// [any thread] Describes each address of a stack, innermost first: by the function's name if its object file exports
/// it (a program: linked with -rdynamic). Otherwise by object file and offset, for addr2line: "server+0x1f2e3".
[[nodiscard]] std::vector<std::string> describe_stack(std::span<void* const> addresses);

}  // namespace quintet
