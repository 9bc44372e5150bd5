// SPDX-License-Identifier: BSL-1.0
// study_document.cpp: converts a study to and from JSON.
#include "study/study_document.hpp"

#include "input_file.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <stdexcept>

#include "report/statistics.hpp"
#include "study/figures.hpp"

namespace quintet::bench {
namespace json = boost::json;

namespace {

json::object figures_of(const subject& s) {
  json::object out;
  for (const figure& f : study_figures()) {
    const auto found = s.figures.find(f.key);
    if (found == s.figures.end()) {
      out[f.key] = nullptr;
      continue;
    }
    json::array rounds;
    for (const double value : found->second) rounds.push_back(number(value));
    out[f.key] = {{"median", number(summarise_samples(found->second)->median)},
                  {"rounds", std::move(rounds)},
                  {"source", source_of(f)}};
  }
  return out;
}

json::object to_json(const cache_reading& c) {
  return {{"references", number(c.references, true)},
          {"misses", number(c.misses, true)},
          {"rate", number(c.rate())},
          {"cpu_s", c.seconds > 0 ? number(c.seconds) : json::value(nullptr)},
          {"requests", number(c.requests, true)}};
}

json::object to_json(const subject& s) {
  json::array caches, functions, locks;
  for (const auto& c : s.caches) caches.push_back(to_json(c));
  for (const auto& f : s.functions)
    functions.push_back(json::object{
        {"share", number(f.share)}, {"symbol", f.symbol}, {"object", f.object}, {"in_kernel", f.in_kernel}});
  for (const auto& l : s.locks)
    locks.push_back(json::object{
        {"waits", number(l.waits, true)}, {"wait_us", number(l.microseconds)}, {"type", l.type}, {"caller", l.caller}});
  return {{"workload", s.workload},
          {"server", s.server},
          {"figures", figures_of(s)},
          {"cache_source", s.cache_source.empty() ? json::value(nullptr) : json::value(s.cache_source)},
          {"caches", std::move(caches)},
          {"functions", std::move(functions)},
          {"locks", std::move(locks)}};
}

subject from_json(const json::object& from) {
  subject out;
  out.workload = json::value_to<std::string>(from.at("workload"));
  out.server = json::value_to<std::string>(from.at("server"));
  for (const auto& [key, value] : from.at("figures").as_object()) {
    if (!value.is_null()) out.figures[std::string(key)] = json::value_to<std::vector<double>>(value.at("rounds"));
  }
  if (const auto* source = from.at("cache_source").if_string()) out.cache_source = *source;
  for (const auto& one : from.at("caches").as_array()) {
    const auto count = [&](const char* key) { return one.at(key).is_null() ? 0 : one.at(key).to_number<double>(); };
    out.caches.push_back({count("references"), count("misses"), count("cpu_s"), count("requests")});
  }
  return out;
}

}  // namespace

json::object compose_study(const study_outcome& o) {
  auto out = compose_figures(o.compared.found);
  json::array subjects, not_measured;
  for (const subject& s : o.subjects) subjects.push_back(to_json(s));
  for (const auto& line : o.not_measured) not_measured.emplace_back(line);
  out["study"] = std::move(subjects);
  out["not_measured"] = std::move(not_measured);
  return out;
}

std::vector<subject> read_study(const std::string& path) {
  const auto found = read_comparison(path);  // rejects other documents
  if (found.command != "study")
    throw std::invalid_argument(fmt::format("{}: it is of quintet-bench {}, not of study", path, found.command));
  const std::string text = read_input(path);
  try {
    std::vector<subject> out;
    const auto all = json::parse(text);
    for (const auto& one : all.at("study").as_array()) out.push_back(from_json(one.as_object()));
    return out;
  } catch (const std::exception& e) {
    throw std::invalid_argument(
        fmt::format("{}: \"study\" does not have the format that this program writes: {}", path, e.what()));
  }
}

}  // namespace quintet::bench
