// SPDX-License-Identifier: BSL-1.0
// command_line.hpp: CLI11 options whose text goes through the parsers of options.hpp. A header of its own, since CLI11
// is slow to compile.
#pragma once

#include "options.hpp"

#include <quintet/base/enum_names.hpp>

#include <CLI/CLI.hpp>

#include <limits>
#include <string>

namespace quintet::bench {

/// Adds an option whose text goes through `parse`. `usage` is its name and what help shows for its value: "--port
/// PORT". An error message names the option.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& usage, T& into, Parse parse, const std::string& help) {
  const auto blank = usage.find(' ');
  const std::string name = usage.substr(0, blank);
  CLI::Option* const option = app.add_option_function<std::string>(
      name,
      [name, &into, parse](const std::string& text) {
        try {
          into = parse(text);
        } catch (const usage_error& e) {
          throw usage_error(name + ": " + e.what());
        }
      },
      help);
  return blank == usage.npos ? option : option->type_name(usage.substr(blank + 1));
}

/// Returns a parser for add_parsed(): a whole number from `min` to `max`.
template <class T>
auto number_in(T min, T max = std::numeric_limits<T>::max()) {
  return [min, max](const std::string& text) { return static_cast<T>(parse_number(text, min, max)); };
}

/// Returns a parser for add_parsed(): a number of bytes from `min` to `max`.
inline auto size_in(std::size_t min, std::size_t max) {
  return [min, max](const std::string& text) { return parse_size(text, min, max); };
}

/// Returns a parser for add_parsed(): a range of numbers from 1 to `most`.
inline auto range_up_to(unsigned most) {
  return [most](const std::string& text) { return parse_range(text, most); };
}

/// Returns a parser for add_parsed(): an enumerator by its name. `what`: "an accept strategy".
template <named_enum E>
auto named(const char* what) {
  return [what](const std::string& text) {
    if (const auto value = from_string<E>(text)) return *value;
    throw usage_error('"' + text + "\" is not " + what + "; it must be one of: " + names_of<E>());
  };
}

}  // namespace quintet::bench
