// SPDX-License-Identifier: BSL-1.0
// document.cpp: writes and reads the JSON object of a command.
#include "report/document.hpp"

#include "input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/stream_parser.hpp>
#include <stdexcept>

#include "report/advice.hpp"
#include "report/summary.hpp"
#include "report/verdict.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

const json::object* object_at(const json::object& parent, std::string_view key) {
  const auto* value = parent.if_contains(key);
  return value ? value->if_object() : nullptr;
}

std::string string_at(const json::object& parent, std::string_view key) {
  const auto* value = parent.if_contains(key);
  const auto* text = value ? value->if_string() : nullptr;
  return text ? std::string(*text) : std::string();
}

// Parses the text. Errors name the line where the JSON becomes invalid.
json::value parse_json(std::string_view text) {
  json::stream_parser parser;
  boost::system::error_code error;
  const auto read = parser.write_some(text.data(), text.size(), error);
  if (!error) parser.finish(error);
  if (!error && text.find_first_not_of(" \t\r\n", read) != text.npos)
    error = json::make_error_code(json::error::extra_data);
  if (!error) return parser.release();
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read), '\n');
  throw std::invalid_argument(fmt::format("not JSON: line {}: {}", line, error.message()));
}

}  // namespace

json::object compose_figures(const comparison& c) {
  const auto summary = summarise(c.results);
  json::array results;
  for (const auto& result : c.results) results.push_back(to_json(result));
  json::object out;
  out["quintet"] = c.version;
  out["command"] = c.command;
  out["environment"] = c.environment;
  out["settings"] = c.settings;
  out["noise"] = noise_sentence(summary);
  out["summary"] = to_json(summary);
  out["results"] = std::move(results);
  return out;
}

json::object compose(const comparison& c) {
  const auto summary = summarise(c.results);
  json::array verdicts;
  for (const auto& name : workload_names(summary)) verdicts.push_back(to_json(compute_verdict(summary, name)));
  auto out = compose_figures(c);
  out["advice"] = to_json(advise(summary));
  out["verdicts"] = std::move(verdicts);
  out["peer_ratios"] = to_json(peer_ratios(c.results));
  return out;
}

comparison parse_comparison(std::string_view text) {
  const auto parsed = parse_json(text);
  const auto* top = parsed.if_object();
  const auto* results = top ? top->if_contains("results") : nullptr;
  if (!results || !results->is_array())
    throw std::invalid_argument("no \"results\" array, so it is not a file of quintet-bench");
  comparison out;
  out.version = string_at(*top, "quintet");
  out.command = string_at(*top, "command");
  if (const auto* environment = object_at(*top, "environment")) out.environment = *environment;
  if (const auto* settings = object_at(*top, "settings")) out.settings = *settings;
  for (const auto& result : results->get_array()) {
    try {
      if (!result.is_object()) throw std::invalid_argument("not an object");
      out.results.push_back(result_from_json(result.get_object()));
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(fmt::format("member {} of \"results\": {}", out.results.size() + 1, e.what()));
    }
  }
  return out;
}

comparison read_comparison(const std::string& path) {
  const std::string text = read_input(path);
  try {
    return parse_comparison(text);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(path + ": " + e.what());
  }
}

}  // namespace quintet::bench
