// SPDX-License-Identifier: BSL-1.0
// settings.cpp: lists of workloads and models on the command line.
#include "compare/settings.hpp"

#include <algorithm>

#include "report/models.hpp"

namespace quintet::bench {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<workload> parse_workloads(std::string_view text) {
  std::vector<workload> out;
  for (const auto part : split(text)) {
    auto next = require_workload(part);
    // Keep the default cost in the name: "cpu" alone would leave a reader of the report guessing.
    if (part == "cpu" || part == "blocking") {
      const auto all = default_workloads();
      const auto named = [&](const workload& w) { return w.name.starts_with(part) && w.kind == next.kind; };
      const auto found = std::find_if(all.begin(), all.end(), named);
      if (found != all.end()) next = *found;
    }
    const auto same = [&](const workload& w) { return w.name == next.name; };
    if (std::find_if(out.begin(), out.end(), same) == out.end()) out.push_back(std::move(next));
  }
  return out;
}

std::vector<std::string> parse_models(std::string_view text) {
  if (text == "all") return {model_names.begin(), model_names.end()};
  std::vector<std::string> out;
  for (const auto part : split(text)) {
    const auto name = find_model(part);
    if (!name) {
      std::string allowed;
      for (const auto known : model_names) allowed += (allowed.empty() ? "" : ", ") + std::string(known);
      throw usage_error('"' + std::string(part) + "\" is not a model; it must be one of: " + allowed +
                        ", or 1 to 5; or all");
    }
    if (std::find(out.begin(), out.end(), *name) == out.end()) out.emplace_back(*name);
  }
  return out;
}

std::string parse_one_model(const std::string& text) {
  const auto models = parse_models(text);
  if (models.size() != 1) throw usage_error('"' + text + "\" is more than one model");
  return models.front();
}

std::chrono::nanoseconds positive_duration(const std::string& text) {
  const auto value = parse_duration(text);
  using namespace std::chrono_literals;
  if (value < 50ms || value > 1h) throw usage_error('"' + text + "\" is out of range; it must be from 50ms to 60min");
  return value;
}

}  // namespace quintet::bench
