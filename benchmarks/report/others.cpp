// SPDX-License-Identifier: BSL-1.0
// others.cpp: reads documents of other commands. others.js shows them and uses the same names.
#include "report/others.hpp"

#include "input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace quintet::bench {
namespace {

namespace json = boost::json;

// The commands, and the key that each one's section requires.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> known{{{"sweep", "summary"},
                                                                              {"study", "study"},
                                                                              {"contention", "summary"},
                                                                              {"memlat", "results"},
                                                                              {"allocators", "summary"},
                                                                              {"accept", "summary"},
                                                                              {"peers", "summary"},
                                                                              {"forecast", "forecast"},
                                                                              {"stress", "results"}}};

std::string names() {
  std::string all;
  for (const auto& [command, key] : known) all += (all.empty() ? "" : ", ") + std::string(command);
  return all;
}

}  // namespace

json::object read_other(const std::string& path) {
  const std::string text = read_input(path);
  boost::system::error_code bad;
  const json::value parsed = json::parse(text, bad);
  const json::object* const document = bad ? nullptr : parsed.if_object();
  const json::value* const command = document ? document->if_contains("command") : nullptr;
  if (!command || !command->is_string()) throw std::invalid_argument(path + ": it is not a JSON file of quintet-bench");
  const std::string_view name = command->get_string();
  const auto found = std::ranges::find(known, name, &decltype(known)::value_type::first);
  if (found == known.end())
    throw std::invalid_argument(
        fmt::format("{}: of quintet-bench {}, which has no section; there are those of {}", path, name, names()));
  const json::value* const needed = document->if_contains(found->second);
  if (!needed || !needed->is_array())
    throw std::invalid_argument(
        fmt::format("{}: \"{}\" does not have the format that this program writes", path, found->second));
  return *document;
}

}  // namespace quintet::bench
