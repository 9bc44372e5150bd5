// SPDX-License-Identifier: BSL-1.0
// result.hpp: one measured run, with the keys that every command of quintet-bench writes.
#pragma once

#include <array>
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "report/contender.hpp"

namespace quintet::bench {

using measurement = std::optional<double>;  // empty: not measured, written as null and never as 0

struct run_result {
  std::string workload;
  std::optional<std::string> model;  // empty for a peer
  std::optional<std::string> engine;
  std::optional<std::string> handler;  // "callback", "coroutine"
  std::optional<std::string> accept;
  std::optional<std::string> offload;    // "always", "adaptive", or "automatic", which the model decides
  std::optional<std::string> peer;       // empty for a model
  std::optional<std::string> allocator;  // the preloaded one, or "glibc" if the absence of others was verified
  unsigned round = 1;

  measurement connections, message_bytes, pipeline, duration_s;
  measurement handler_us;  // the handler's time for an expensive request; empty if the workload has none
  measurement requests, failed, requests_per_s, mb_per_s;
  measurement p50_us, p90_us, p99_us, p999_us, max_us;
  measurement server_cpu_us_per_request, server_user_us_per_request, client_cpu_us_per_request;
  measurement syscalls_per_request, futex_per_request, context_switches_per_request;
  measurement instructions_per_request;  // of the server, in user space
  measurement server_threads, server_rss_bytes, bytes_per_connection;
  // If accepts are measured: fraction accepted by a pinned loop on the CPU that received the connection; busiest loop /
  // average loop.
  measurement accepted_locally, accept_balance;
  measurement accept_wakes_per_connection;  // wake-ups for an accept while the server is otherwise idle
  measurement machine_softirq_fraction;     // of the time of all CPUs, caused by any program
  measurement heartbeat_p50_us, heartbeat_p99_us, heartbeat_max_us;
  measurement client_cpu_fraction;   // near 1: the client was the bottleneck
  measurement server_busy_fraction;  // of its busiest thread, or of all its CPUs; near 1: the server was the bottleneck
  measurement machine_busy_fraction;
  measurement net_bytes_per_request, net_packets_per_request;  // on the interface between the two, sent by any program
  measurement foreign_cpu_fraction;  // the share of all CPUs that neither server nor client used: noise

  std::string server_cpus, client_cpus;  // CPU lists such as "0-3,6"
  measurement loops;
  std::string workers;
  std::optional<std::string> error;  // why the run gave no figures
};

// Returns the same text as contender::label().
std::string label_of(const run_result&);

struct metric {
  std::string_view key;
  measurement run_result::* field;
  bool whole;  // written without a fraction
};

// Every number of a result, in the order of writing.
inline constexpr std::array metrics{
    metric{"connections", &run_result::connections, true},
    metric{"message_bytes", &run_result::message_bytes, true},
    metric{"pipeline", &run_result::pipeline, true},
    metric{"handler_us", &run_result::handler_us, true},
    metric{"duration_s", &run_result::duration_s, false},
    metric{"requests", &run_result::requests, true},
    metric{"failed", &run_result::failed, true},
    metric{"requests_per_s", &run_result::requests_per_s, false},
    metric{"mb_per_s", &run_result::mb_per_s, false},
    metric{"p50_us", &run_result::p50_us, false},
    metric{"p90_us", &run_result::p90_us, false},
    metric{"p99_us", &run_result::p99_us, false},
    metric{"p999_us", &run_result::p999_us, false},
    metric{"max_us", &run_result::max_us, false},
    metric{"server_cpu_us_per_request", &run_result::server_cpu_us_per_request, false},
    metric{"server_user_us_per_request", &run_result::server_user_us_per_request, false},
    metric{"client_cpu_us_per_request", &run_result::client_cpu_us_per_request, false},
    metric{"syscalls_per_request", &run_result::syscalls_per_request, false},
    metric{"futex_per_request", &run_result::futex_per_request, false},
    metric{"context_switches_per_request", &run_result::context_switches_per_request, false},
    metric{"instructions_per_request", &run_result::instructions_per_request, false},
    metric{"server_threads", &run_result::server_threads, true},
    metric{"server_rss_bytes", &run_result::server_rss_bytes, true},
    metric{"bytes_per_connection", &run_result::bytes_per_connection, true},
    metric{"accepted_locally", &run_result::accepted_locally, false},
    metric{"accept_balance", &run_result::accept_balance, false},
    metric{"accept_wakes_per_connection", &run_result::accept_wakes_per_connection, false},
    metric{"machine_softirq_fraction", &run_result::machine_softirq_fraction, false},
    metric{"heartbeat_p50_us", &run_result::heartbeat_p50_us, false},
    metric{"heartbeat_p99_us", &run_result::heartbeat_p99_us, false},
    metric{"heartbeat_max_us", &run_result::heartbeat_max_us, false},
    metric{"client_cpu_fraction", &run_result::client_cpu_fraction, false},
    metric{"server_busy_fraction", &run_result::server_busy_fraction, false},
    metric{"machine_busy_fraction", &run_result::machine_busy_fraction, false},
    metric{"net_bytes_per_request", &run_result::net_bytes_per_request, false},
    metric{"net_packets_per_request", &run_result::net_packets_per_request, false},
    metric{"foreign_cpu_fraction", &run_result::foreign_cpu_fraction, false},
    metric{"loops", &run_result::loops, true},
};

boost::json::object to_json(const run_result&);
// Treats missing keys and nulls as "not measured". Throws std::invalid_argument if a value has the wrong type.
run_result result_from_json(const boost::json::object&);

// Returns a readable number: integers stay integers, others keep six significant digits. "Not measured" is null.
boost::json::value number(const measurement&, bool whole = false);
boost::json::value text_or_null(const std::optional<std::string>&);

}  // namespace quintet::bench
