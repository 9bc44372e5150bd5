// SPDX-License-Identifier: BSL-1.0
// pretty.cpp: readable JSON, since Boost.JSON writes 1.5E1 and one endless line.
#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "report/document.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

constexpr std::size_t line_width = 110;

void write(std::string& out, const json::value& value, std::size_t indent);

bool is_leaf(const json::value& value) { return !value.is_object() && !value.is_array(); }

std::string scalar(const json::value& value) {
  return value.is_double() ? fmt::format("{}", value.get_double()) : json::serialize(value);
}

// Writes all members on one line if they are leaves and fit, else one member per line.
template <class Range, class WriteMember>
void write_members(std::string& out, const Range& range, std::string_view brackets, std::size_t indent, bool leaves,
                   WriteMember write_member) {
  if (range.empty()) {
    out += brackets;
    return;
  }
  if (leaves) {
    std::string line;
    for (const auto& member : range) {
      if (!line.empty()) line += ", ";
      write_member(line, member);
    }
    if (line.size() + indent < line_width) {
      out += brackets[0] + line + brackets[1];
      return;
    }
  }
  const std::string pad(indent + 1, ' ');
  out += brackets[0];
  const char* separator = "\n";
  for (const auto& member : range) {
    out += separator + pad;
    write_member(out, member);
    separator = ",\n";
  }
  out += '\n';
  out.append(indent, ' ');
  out += brackets[1];
}

void write(std::string& out, const json::value& value, std::size_t indent) {
  if (const auto* array = value.if_array()) {
    bool leaves = true;
    for (const auto& member : *array) leaves = leaves && is_leaf(member);
    write_members(out, *array, "[]", indent, leaves,
                  [&](std::string& to, const json::value& member) { write(to, member, indent + 1); });
  } else if (const auto* object = value.if_object()) {
    bool leaves = true;
    for (const auto& member : *object) leaves = leaves && is_leaf(member.value());
    write_members(out, *object, "{}", indent, leaves, [&](std::string& to, const auto& member) {
      to += json::serialize(member.key()) + ": ";
      write(to, member.value(), indent + 1);
    });
  } else {
    out += scalar(value);
  }
}

}  // namespace

std::string pretty(const json::value& value) {
  std::string out;
  write(out, value, 0);
  return out + "\n";
}

}  // namespace quintet::bench
