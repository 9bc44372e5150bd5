// SPDX-License-Identifier: BSL-1.0
// record: makes and parses records and commands.
#include "record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace quintet::testing {
namespace {

constexpr std::size_t period = 251, longest = 128 * 1024;

/// Bytes that repeat after `period`. A record's body is a part of it, which begins within the first period.
const std::string& pattern() {
  static const std::string all = [] {
    std::string text(longest + period, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % period);
    return text;
  }();
  return all;
}

std::size_t place_of(char writer, std::uint32_t sequence) {
  return (static_cast<unsigned char>(writer) * 37U + sequence * 11U) % period;
}

std::uint32_t number(bytes text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size() ? value : ~std::uint32_t{0};
}

}  // namespace

std::string make_record(char writer, std::uint32_t sequence, std::size_t size) {
  std::array<char, record_head + 1> head{};
  (void)std::snprintf(head.data(), head.size(), "<%c%08x:%08x    >", writer, sequence, static_cast<unsigned>(size));
  std::string text(head.data(), record_head);
  text.reserve(size);
  return text.append(pattern(), place_of(writer, sequence), size - record_head);
}

std::string record_reader::begin() {
  const bytes head = head_;
  size_ = number(head.substr(11, 8));
  sequence_ = number(head.substr(2, 8));
  writer_ = head[1];
  if (head[0] != '<' || head[10] != ':' || head[23] != '>' || size_ < record_head || size_ > longest)
    return "no record begins where the one before has ended: a part is missing, doubled or out of place";
  left_ = size_ - record_head;
  head_.clear();
  return {};
}

std::string record_reader::take(bytes arrived) {
  while (!arrived.empty()) {
    if (left_ == 0) {
      const bytes more = arrived.substr(0, record_head - head_.size());
      head_.append(more);
      arrived.remove_prefix(more.size());
      if (head_.size() < record_head) return {};
      if (std::string wrong = begin(); !wrong.empty()) return wrong;
    } else {
      const bytes part = arrived.substr(0, left_);
      const std::size_t at = place_of(writer_, sequence_) + size_ - record_head - left_;
      if (part != bytes(pattern()).substr(at, part.size())) return "other bytes lie within a record";
      left_ -= part.size();
      arrived.remove_prefix(part.size());
    }
    if (left_ == 0) on_record(writer_, sequence_, size_);
  }
  return {};
}

std::string make_line(const command& c, std::size_t filler) {
  std::array<char, 40> head{};
  (void)std::snprintf(head.data(), head.size(), "000000 %06x %02x %06x ", c.sequence, static_cast<unsigned>(c.does),
                      c.amount);
  std::string line = head.data();
  line.append(filler, '.').push_back('\n');
  std::array<char, size_field + 1> size{};
  (void)std::snprintf(size.data(), size.size(), "%06x", static_cast<unsigned>(line.size()));
  return line.replace(0, size_field, size.data());
}

std::size_t line_size(bytes in) { return number(in.substr(0, size_field)); }

std::optional<command> read_line(bytes in, bool& wrong) {
  if (in.size() < size_field) return {};
  command c;
  c.size = line_size(in);
  wrong = c.size < 25 || c.size > 0x100000;
  if (wrong || in.size() < c.size) return {};
  c.sequence = number(in.substr(7, 6));
  const std::uint32_t kind = number(in.substr(14, 2));
  c.amount = number(in.substr(17, 6));
  const bytes filler = in.substr(24, c.size - 25);
  wrong = kind >= actions || in[c.size - 1] != '\n' || filler.find_first_not_of('.') != bytes::npos;
  c.does = static_cast<action>(kind);
  return wrong ? std::optional<command>() : c;
}

}  // namespace quintet::testing
