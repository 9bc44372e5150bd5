// SPDX-License-Identifier: BSL-1.0
// perf_texts.cpp: line-by-line parsers, which skip unknown lines.
#include "study/perf_texts.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "compare/child_process.hpp"

namespace quintet::bench {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const auto end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == text.npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Parses the whole text as a number; nullopt if it is not one.
std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                    : std::nullopt;
}

// "LL refs: 53,829 ( 46,927 rd" -> 53829. Uses the last match: earlier lines belong to child processes.
std::optional<double> total(std::string_view log, std::string_view name) {
  const auto at = log.rfind(name);
  if (at == log.npos) return std::nullopt;
  std::string digits;
  for (const char c : trimmed(log.substr(at + name.size()))) {
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c != ',')
      break;
  }
  return number_of(digits);
}

// Returns the unit "us", "ms" and so on in microseconds; 0 if unknown.
double microseconds_in(std::string_view unit) {
  if (unit == "ns") return 1e-3;
  if (unit == "us") return 1;
  if (unit == "ms") return 1e3;
  return unit == "s" ? 1e6 : 0;
}

}  // namespace

std::map<std::string, std::optional<double>, std::less<>> parse_perf_stat(std::string_view text) {
  std::map<std::string, std::optional<double>, std::less<>> out;
  for (const auto line : parts_of(text, '\n')) {
    const auto fields = parts_of(line, ',');  // value, unit, event, ...
    if (fields.size() < 3 || fields[2].empty()) continue;
    const auto value = number_of(fields[0]);
    if (value || fields[0].starts_with("<not")) out[std::string(fields[2].substr(0, fields[2].find(':')))] = value;
  }
  return out;
}

std::vector<hot_function> parse_perf_report(std::string_view text) {
  std::vector<hot_function> out;
  for (const auto line : parts_of(text, '\n')) {
    const auto fields = parts_of(line, '|');
    if (line.starts_with('#') || fields.size() < 3) continue;
    auto share = trimmed(fields[0]);
    auto symbol = trimmed(fields[1]);
    if (!share.ends_with('%')) continue;
    share.remove_suffix(1);
    const auto value = number_of(share);
    if (!value || !symbol.starts_with('[') || symbol.size() < 5) continue;
    out.push_back(
        {*value / 100, std::string(trimmed(symbol.substr(3))), std::string(trimmed(fields.back())), symbol[1] == 'k'});
  }
  return out;
}

std::vector<lock_wait> parse_lock_contention(std::string_view text) {
  std::vector<lock_wait> out;
  for (const auto line : parts_of(text, '\n')) {
    // 72 1.14 ms 400.06 us 15.90 us spinlock wake_up_q+0x33
    std::istringstream fields{std::string(line)};
    std::string waits, total, unit, skipped, type, caller;
    fields >> waits >> total >> unit >> skipped >> skipped >> skipped >> skipped >> type;
    std::getline(fields >> std::ws, caller);
    const auto count = number_of(waits), time = number_of(total);
    if (!count || !time || microseconds_in(unit) == 0 || type.empty()) continue;
    out.push_back({*count, *time * microseconds_in(unit), type, caller});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const lock_wait& a, const lock_wait& b) { return a.microseconds > b.microseconds; });
  return out;
}

simulated_counts parse_cachegrind(std::string_view log) {
  const auto instructions = total(log, "I   refs:"), references = total(log, "LL refs:"),
             misses = total(log, "LL misses:");
  if (!instructions || !references || !misses)
    throw run_error("cachegrind counted nothing: " + std::string(log.substr(0, log.find('\n'))));
  return {*instructions, *references, *misses};
}

}  // namespace quintet::bench
