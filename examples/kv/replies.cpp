// SPDX-License-Identifier: BSL-1.0
// replies: the forms of the protocol.
#include "replies.hpp"

#include <array>
#include <charconv>

namespace kv {

namespace {

constexpr std::size_t small = 64;  // bytes of a value that is copied rather than shared

}  // namespace

void replies::write_number(char prefix, std::int64_t n) {
  std::array<char, 32> line;
  line[0] = prefix;
  char* end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, n).ptr;
  *end++ = '\r';
  *end++ = '\n';
  write({line.data(), static_cast<std::size_t>(end - line.data())});
}

void replies::write_bulk(bytes value) {
  write_number('$', static_cast<std::int64_t>(value.size()));
  write(value);
  write("\r\n");
}

void replies::write_bulk(store::value found) {
  if (found->size() <= small) return write_bulk(bytes(*found));
  write_number('$', static_cast<std::int64_t>(found->size()));
  write(std::move(found));
  write("\r\n");
}

void replies::write_quoted(bytes text) {
  write("'");
  for (char ch : text) {
    if (ch == '\r' || ch == '\n') ch = ' ';
    write({&ch, 1});
  }
  write("'");
}

void replies::begin_map(std::size_t pairs) {
  const auto count = static_cast<std::int64_t>(pairs);
  if (client_.resp3)
    write_number('%', count);
  else
    write_number('*', 2 * count);
}

}  // namespace kv
