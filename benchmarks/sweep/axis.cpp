// SPDX-License-Identifier: BSL-1.0
// axis.cpp: the table of axes, and the parsing of their values.
#include "sweep/axis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compare/settings.hpp"
#include "options.hpp"
#include "report/text.hpp"

namespace quintet::bench {
namespace {

double parse_connections(std::string_view text) { return static_cast<double>(parse_number(text, 1, 20'000)); }
double parse_bytes(std::string_view text) {
  return static_cast<double>(parse_size(text, header_bytes, most_message_bytes));
}
double parse_depth(std::string_view text) { return static_cast<double>(parse_number(text, 1, 10'000)); }

double parse_threads(std::string_view text) { return static_cast<double>(parse_number(text, 1, 1024)); }

// Parses whole microseconds, as workloads have them; a bare number means microseconds. Longer handlers would answer too
// few requests per run.
double parse_handler_time(std::string_view text) {
  using namespace std::chrono_literals;
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  const auto time = parse_duration(bare ? std::string(text) + "us" : std::string(text));
  if (time > 50ms || time % 1us != 0ns)
    throw usage_error(
        fmt::format("\"{}\" is not a handler time; it must be whole microseconds from 0us to 50ms", text));
  return static_cast<double>(time / 1us);
}

std::string handler_time(double us) {
  return us < 1000 ? fmt::format("{:g} us", us) : fmt::format("{:g} ms", us / 1000);
}

void set_connections(workload& w, double value) { w.connections = static_cast<unsigned>(value); }
void set_bytes(workload& w, double value) { w.message_bytes = static_cast<std::size_t>(value); }
void set_depth(workload& w, double value) { w.pipeline = static_cast<unsigned>(value); }
void set_threads(workload& w, double value) { w.threads = static_cast<unsigned>(value); }
void set_handler_time(workload& w, double value) {
  const auto family = w.name.substr(0, w.name.find(':'));
  w = require_workload(fmt::format("{}:{:.0f}us", family, value));
}

constexpr auto* plain_models = "single_reactor,thread_per_connection";
constexpr auto speed = &run_result::requests_per_s;

}  // namespace

const std::array<axis, 5> axes{{
    {"connections", "how many connections", "connections", "connections", true, "echo", plain_models,
     "1,5,10,30,100,300,500,1000,5000", &run_result::connections, speed, parse_connections, grouped, set_connections},
    {"size", "bytes of a request", "bytes", "B", true, "echo", plain_models, "8,64,512,4k,16k,64k",
     &run_result::message_bytes, &run_result::mb_per_s, parse_bytes, grouped, set_bytes},
    {"pipeline", "requests in flight for each connection", "in flight", "in flight", true, "pipeline", plain_models,
     "1,2,4,8,16,32,64", &run_result::pipeline, speed, parse_depth, grouped, set_depth},
    {"threads", "loops of models 4 and 5, workers of models 3 and 5", "threads", "threads", true, "cpu",
     "reactor_pool,loop_per_thread,loop_per_thread_pool", "1,2,4,8", &run_result::loops, speed, parse_threads, grouped,
     set_threads},
    {"handler-us", "how long the handler computes (sleeps, with --workload blocking) for a request", "handler time", "",
     false, "cpu", "all", "0,10,20,50,100,200,500,1000,2000,5000", &run_result::handler_us, speed, parse_handler_time,
     handler_time, set_handler_time},
}};

const axis& require_axis(std::string_view name) {
  std::string names;
  for (const axis& a : axes) {
    if (a.name == name) return a;
    names += (names.empty() ? "" : ", ") + std::string(a.name);
  }
  throw usage_error(fmt::format("\"{}\" cannot be swept; it must be one of: {}", name, names));
}

std::vector<double> parse_values(const axis& a, std::string_view text) {
  std::vector<double> out;
  for (const auto part : split(text)) out.push_back(a.parse(part));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.size() < 2) throw usage_error(fmt::format("\"{}\" has too few values; give two values or more", text));
  return out;
}

workload parse_base(const axis& a, std::string_view name) {
  const auto all = parse_workloads(name);
  if (all.size() != 1) throw usage_error(fmt::format("\"{}\" is more than one workload", name));
  const workload& base = all.front();
  if (a.apply == set_handler_time && name != "cpu" && name != "blocking")
    throw usage_error(fmt::format("\"{}\" has no handler time to vary; write cpu or blocking", name));
  if (a.apply == set_depth && base.short_connections)
    throw usage_error("short connections send one request each; there is nothing to vary");
  return base;
}

std::vector<workload> vary(const axis& a, const workload& base, const std::vector<double>& values) {
  std::vector<workload> out;
  for (const double value : values) {
    out.push_back(base);
    a.apply(out.back(), value);
    require_possible(out.back());
  }
  return out;
}

}  // namespace quintet::bench
