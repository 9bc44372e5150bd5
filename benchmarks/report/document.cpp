// SPDX-License-Identifier: BSL-1.0
// document.cpp: the JSON object of a command, there and back.
#include "report/document.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
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
  for (const auto& name : workload_names(summary)) verdicts.push_back(to_json(judge(summary, name)));
  auto out = compose_figures(c);
  out["advice"] = to_json(advise(summary));
  out["verdicts"] = std::move(verdicts);
  out["peer_ratios"] = to_json(peer_ratios(c.results));
  return out;
}

comparison parse_comparison(std::string_view text) {
  boost::system::error_code error;
  const auto parsed = json::parse({text.data(), text.size()}, error);
  if (error) throw std::invalid_argument("not JSON: " + error.message());
  const auto* top = parsed.if_object();
  const auto* results = top ? top->if_contains("results") : nullptr;
  if (!results || !results->is_array())
    throw std::invalid_argument("no \"results\" array, so not a file of quintet-bench");
  comparison out;
  out.version = string_at(*top, "quintet");
  out.command = string_at(*top, "command");
  if (const auto* environment = object_at(*top, "environment")) out.environment = *environment;
  if (const auto* settings = object_at(*top, "settings")) out.settings = *settings;
  for (const auto& result : results->get_array()) {
    if (!result.is_object()) throw std::invalid_argument("a member of \"results\" is not an object");
    out.results.push_back(result_from_json(result.get_object()));
  }
  return out;
}

}  // namespace quintet::bench
