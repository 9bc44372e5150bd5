// SPDX-License-Identifier: BSL-1.0
// backtrace: finds names by dladdr and demangles them.
#include "backtrace.hpp"

#include <boost/core/demangle.hpp>

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace quintet {
namespace {

constexpr std::size_t longest_name = 240;  // names of templates can be arbitrarily long

std::string hexadecimal(std::uintptr_t value) {
  std::array<char, 2 * sizeof value> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

/// Describes an address. A return address may lie behind the end of the caller's function, so one is subtracted.
std::string describe(const void* address, bool is_return) {
  const char* const at = static_cast<const char*>(address) - (is_return ? 1 : 0);
  Dl_info info{};
  if (::dladdr(at, &info) == 0 || !info.dli_fname) return hexadecimal(reinterpret_cast<std::uintptr_t>(at));
  if (info.dli_sname) return readable_name(info.dli_sname);
  const std::string_view path(info.dli_fname);
  return std::string(path.substr(path.rfind('/') + 1)) + '+' +
         hexadecimal(static_cast<std::uintptr_t>(at - static_cast<const char*>(info.dli_fbase)));
}

std::string cut(std::string name) {
  if (name.size() > longest_name) name.replace(longest_name - 3, std::string::npos, "...");
  return name;
}

}  // namespace

std::string readable_name(const char* mangled) { return cut(boost::core::demangle(mangled)); }

// g++ writes "... [with T = type; name = other type]", clang "... [T = type]".
std::string readable_type(const char* text) {
  constexpr std::string_view begin = "T = ";
  const std::string_view all(text);
  const std::size_t at = all.find(begin);
  if (at == all.npos) return cut(std::string(all));
  std::string_view name = all.substr(at + begin.size());
  int depth = 0;
  std::size_t end = 0;
  for (; end < name.size() && (depth > 0 || (name[end] != ';' && name[end] != ']')); ++end) {
    if (std::string_view("<({[").find(name[end]) != name.npos) ++depth;
    if (std::string_view(">)}]").find(name[end]) != name.npos) --depth;
  }
  return cut(std::string(name.substr(0, end)));
}

std::vector<std::string> describe_stack(std::span<void* const> addresses) {
  std::vector<std::string> frames;
  frames.reserve(addresses.size());
  for (const void* const address : addresses) frames.push_back(describe(address, !frames.empty()));
  return frames;
}

}  // namespace quintet
