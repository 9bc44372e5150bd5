// SPDX-License-Identifier: BSL-1.0
// result.cpp: converts a measured run to and from JSON.
#include "report/result.hpp"

#include <algorithm>
#include <boost/json/value.hpp>
#include <cmath>
#include <stdexcept>

namespace quintet::bench {
namespace json = boost::json;

namespace {

[[noreturn]] void wrong_type(std::string_view key, std::string_view expected) {
  throw std::invalid_argument("result key \"" + std::string(key) + "\" is not " + std::string(expected));
}

const json::value* find(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value && !value->is_null() ? value : nullptr;
}

std::optional<std::string> text(const json::object& object, std::string_view key) {
  const auto* value = find(object, key);
  if (!value) return std::nullopt;
  if (!value->is_string()) wrong_type(key, "a string or null");
  return std::string(value->get_string());
}

measurement numeric(const json::object& object, std::string_view key) {
  const auto* value = find(object, key);
  if (!value) return std::nullopt;
  if (!value->is_number()) wrong_type(key, "a number or null");
  return value->to_number<double>();
}

double six_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

}  // namespace

json::value number(const measurement& value, bool whole) {
  if (!value || !std::isfinite(*value)) return nullptr;
  if (whole) return static_cast<std::int64_t>(std::llround(*value));
  return six_digits(*value);
}

json::value text_or_null(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value(nullptr);
}

std::string contender::label() const {
  constexpr std::array<std::string_view, 3> by_hand{"epoll", "epoll-edge", "blocking"};
  if (std::find(by_hand.begin(), by_hand.end(), peer) != by_hand.end()) return "hand-written " + peer;
  if (is_peer()) return peer;
  std::string details = engine == "automatic" || engine == "epoll" || engine == "blocking" ? "" : engine;
  const auto add = [&](const std::string& detail) { details += (details.empty() ? "" : ", ") + detail; };
  if (handler != "callback") add(handler);
  if (accept != contender().accept) add(accept);
  if (!allocator.empty()) add(allocator);
  return details.empty() ? model : model + " (" + details + ")";
}

std::string label_of(const run_result& r) {
  const contender usual;
  return contender{r.model.value_or("?"),           r.peer.value_or(""),
                   r.engine.value_or(usual.engine), r.handler.value_or(usual.handler),
                   r.accept.value_or(usual.accept), r.allocator.value_or("")}
      .label();
}

json::object to_json(const run_result& result) {
  json::object out;
  out["workload"] = result.workload;
  out["model"] = text_or_null(result.model);
  out["engine"] = text_or_null(result.engine);
  out["handler"] = text_or_null(result.handler);
  out["accept"] = text_or_null(result.accept);
  out["offload"] = text_or_null(result.offload);
  out["peer"] = text_or_null(result.peer);
  out["allocator"] = text_or_null(result.allocator);
  out["round"] = result.round;
  for (const auto& m : metrics) out[m.key] = number(result.*m.field, m.whole);
  out["server_cpus"] = result.server_cpus;
  out["client_cpus"] = result.client_cpus;
  out["workers"] = result.workers;
  out["error"] = text_or_null(result.error);
  return out;
}

run_result result_from_json(const json::object& object) {
  run_result result;
  const auto workload = text(object, "workload");
  if (!workload) throw std::invalid_argument("a result has no \"workload\"");
  result.workload = *workload;
  result.model = text(object, "model");
  result.engine = text(object, "engine");
  result.handler = text(object, "handler");
  result.accept = text(object, "accept");
  result.offload = text(object, "offload");
  result.peer = text(object, "peer");
  result.allocator = text(object, "allocator");
  result.round = static_cast<unsigned>(numeric(object, "round").value_or(1));
  for (const auto& m : metrics) result.*m.field = numeric(object, m.key);
  result.server_cpus = text(object, "server_cpus").value_or("");
  result.client_cpus = text(object, "client_cpus").value_or("");
  result.workers = text(object, "workers").value_or("");
  result.error = text(object, "error");
  return result;
}

}  // namespace quintet::bench
