// SPDX-License-Identifier: BSL-1.0
// replies: the forms of the protocol.
#include "replies.hpp"

#include <array>
#include <charconv>

namespace kv {

void replies::write_number(char prefix, std::int64_t n) {
  std::array<char, 32> line;
  line[0] = prefix;
  char* end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, n).ptr;
  *end++ = '\r';
  *end++ = '\n';
  write({line.data(), static_cast<std::size_t>(end - line.data())});
}

void replies::write_bulk(bytes text) {
  if (text.size() > value::small) {
    write_number('$', static_cast<std::int64_t>(text.size()));
    write(text);
    return write("\r\n");
  }
  std::array<char, value::small + 8> whole;  // one write instead of three
  whole[0] = '$';
  char* end = std::to_chars(whole.data() + 1, whole.data() + 4, text.size()).ptr;
  *end++ = '\r';
  *end++ = '\n';
  end += text.copy(end, value::small);
  *end++ = '\r';
  *end++ = '\n';
  write({whole.data(), static_cast<std::size_t>(end - whole.data())});
}

void replies::write_bulk(value&& found) {
  if (!found.shared()) return write_bulk(*found);
  write_number('$', static_cast<std::int64_t>(found.shared()->size()));
  write(std::move(found.shared()));
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
