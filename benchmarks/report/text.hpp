// SPDX-License-Identifier: BSL-1.0
// text.hpp: formats numbers for readers of tables and sentences.
#pragma once

#include <span>
#include <string>

namespace quintet::bench {

std::string grouped(double value);        // 112345.6 -> "112,346"
std::string significant(double value);    // three significant digits: 112345 -> "112,000", 0.01234 -> "0.0123"
std::string micros(double us);            // 0.098 -> "98.0 ns", 845 -> "845 us", 12345 -> "12.3 ms", 2e6 -> "2.00 s"
std::string percent(double fraction);     // 0.123 -> "12 %", 0.003 -> "0.3 %"
std::string mebibytes(double bytes);      // "12.3 MiB"
std::string forecast(double bytes_each);  // 248 -> "237 MiB for 1 million, 473 MiB for 2 million"
std::string joined(std::span<const std::string> names);  // "a, b and c"

}  // namespace quintet::bench
