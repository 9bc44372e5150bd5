// SPDX-License-Identifier: BSL-1.0
// text.cpp: formats numbers for readers.
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quintet::bench {

std::string grouped(double value) {
  auto digits = fmt::format("{:.0f}", std::abs(value));
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return (value < 0 ? "-" : "") + digits;
}

std::string significant(double value) {
  if (value == 0 || !std::isfinite(value)) return "0";
  const auto magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double scale = std::pow(10.0, 2 - magnitude);
  const double rounded = std::round(value * scale) / scale;
  if (std::abs(rounded) >= 100) return grouped(rounded);
  return fmt::format("{:.{}f}", rounded, std::clamp(2 - magnitude, 0, 9));
}

std::string micros(double us) {
  if (us >= 999'500) return fmt::format("{} s", significant(us / 1e6));
  if (us >= 999.5) return fmt::format("{} ms", significant(us / 1e3));
  if (us > 0 && us < 0.9995) return fmt::format("{} ns", significant(us * 1e3));
  return fmt::format("{} us", significant(us));
}

std::string percent(double fraction) {
  const double value = fraction * 100;
  return std::abs(value) < 0.95 && value != 0 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

std::string mebibytes(double bytes) { return fmt::format("{} MiB", significant(bytes / (1024.0 * 1024.0))); }

std::string forecast(double bytes_each) {
  return fmt::format("{} for 1 million, {} for 2 million", mebibytes(1e6 * bytes_each), mebibytes(2e6 * bytes_each));
}

std::string joined(std::span<const std::string> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace quintet::bench
