// SPDX-License-Identifier: BSL-1.0
// describe_command.cpp: `quintet-bench describe`: what this build can do, for the commands that are written in Python.
#include "commands.hpp"
#include "load/call_counter.hpp"
#include "peers/peer_server.hpp"
#include "workloads.hpp"

#include <quintet/base/version.hpp>
#include <quintet/net/options/listen_options.hpp>
#include <quintet/net/options/loop_options.hpp>
#include <quintet/threadmodels/compute/thread_options.hpp>
#include <quintet/threadmodels/model.hpp>

#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <boost/version.hpp>

#include <string_view>

// Defined only if tcmalloc is linked in.
extern "C" const char* tc_version(int* major, int* minor, const char** patch) __attribute__((weak));

namespace quintet::bench {
namespace {

namespace json = boost::json;

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string allocator() {
  if (!tc_version) return fmt::format("glibc malloc {}", ::gnu_get_libc_version());
  int major = 0, minor = 0;
  const char* patch = "";
  return fmt::format("tcmalloc ({})", tc_version(&major, &minor, &patch));
}

template <class E>
json::array names() {
  json::array out;
  for (const auto& entry : enum_names<E>) out.emplace_back(entry.name);
  return out;
}

std::string_view name_of(work_kind kind) {
  constexpr std::array<std::string_view, 7> names{"echo", "cpu", "blocking", "mixed", "ask", "timestamp", "framed"};
  return names[static_cast<std::size_t>(kind)];
}

json::array workloads() {
  json::array out;
  for (const workload& w : default_workloads())
    out.push_back(json::object{{"name", w.name},
                               {"kind", name_of(w.kind)},
                               {"connections", w.connections},
                               {"message_bytes", w.message_bytes},
                               {"pipeline", w.pipeline},
                               {"short", w.short_connections},
                               {"heartbeat", w.heartbeat},
                               {"cost_us", w.cost.count()}});
  return out;
}

json::object description(const CLI::App& app) {
  json::object commands, missing_peers;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    commands[sub->get_name()] = sub->get_description();
  json::array engines, peers;
  for (const engine_kind kind : built_engines()) engines.emplace_back(to_string(kind));
  for (const peer_kind& kind : all_peers()) {
    peers.emplace_back(kind.name);
    if (!kind.built_in()) missing_peers[kind.name] = kind.absence();
  }
  const auto& obstacle = call_counter::obstacle();
  return {{"quintet", QUINTET_VERSION_STRING},
          {"compiler", compiler()},
          {"flags", QUINTET_BENCH_FLAGS},
          {"boost", fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)},
          {"allocator", allocator()},
          {"commands", std::move(commands)},
          {"models", names<model>()},
          {"engines", std::move(engines)},
          {"accept", names<accept_strategy>()},
          {"offload", names<offload_policy>()},
          {"peers", std::move(peers)},
          {"missing_peers", std::move(missing_peers)},
          {"call_counter", obstacle.empty() ? json::value(nullptr) : json::value(obstacle)},
          {"workloads", workloads()}};
}

}  // namespace

void add_describe(CLI::App& app) {
  app.add_subcommand("describe", "Prints workloads, models, engines and peers of this build as JSON.")
      ->footer("Example: quintet-bench describe")
      ->callback([&app] { fmt::print("{}\n", json::serialize(description(app))); });
}

}  // namespace quintet::bench
