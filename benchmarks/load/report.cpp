// SPDX-License-Identifier: BSL-1.0
// report.cpp: formats a load result, as JSON and as text.
#include "load/report.hpp"

#include <fmt/core.h>
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <unistd.h>

namespace quintet::bench {
namespace {

constexpr std::array<std::pair<const char*, double>, 4> percentiles{
    {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p999", 99.9}}};

/// Returns the value, or null if it is not known.
template <class T>
boost::json::value known_if(bool is_known, T value) {
  return is_known ? boost::json::value(std::move(value)) : boost::json::value(nullptr);
}

boost::json::value or_null(const std::optional<double>& value) {
  return known_if(value.has_value(), value.value_or(0));
}

boost::json::value microseconds(const histogram& h, std::uint64_t ns) {
  return known_if(h.total() != 0, static_cast<double>(ns) / 1e3);
}

std::string text_of(std::uint64_t ns) {
  const auto us = static_cast<double>(ns) / 1e3;
  return us < 10'000 ? fmt::format("{:.{}f} us", us, us < 100 ? 1 : 0) : fmt::format("{:.1f} ms", us / 1e3);
}

std::string latency_text(const histogram& h) {
  if (h.total() == 0) return "nothing answered";
  std::string text;
  for (const auto& [name, percent] : percentiles)
    text += fmt::format("{} {}  ", percent > 99 ? "p99.9" : name, text_of(h.percentile(percent)));
  return text + "max " + text_of(h.max());
}

double megabytes(const load_settings& s, const load_result& r) {
  return r.requests_per_s() * static_cast<double>(s.work.message_bytes) / 1e6;
}

/// Steps of 10 us below 100 us, of 100 us below 10 ms, then of a hundredth of the next power of ten.
std::uint64_t next_bound(std::uint64_t ns) {
  std::uint64_t step = ns < 100'000 ? 10'000 : 100'000;
  while (ns >= 100 * step) step *= 10;
  return ns + step;
}

double spin_us(const load_settings& s) { return static_cast<double>(s.spin.count()) / 1e3; }

const char* name_of(client_kind kind) {
  if (kind == client_kind::shared_memory) return "shared_memory";
  return kind == client_kind::epoll ? "epoll" : "blocking";
}

std::string bytes_text(std::size_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} B", bytes);
}

double client_us_per_request(const load_result& r) {
  return r.requests == 0 ? 0 : r.client_cpu_s * 1e6 / static_cast<double>(r.requests);
}

void add_throughput(boost::json::object& o, const load_settings& s, const load_result& r) {
  const bool known = r.measured();
  o["duration_s"] = known_if(known, r.seconds());
  o["requests_per_s"] = known_if(known, r.requests_per_s());
  o["mb_per_s"] = known_if(known, megabytes(s, r));
  o["client_cpu_us_per_request"] = known_if(known && r.requests != 0, client_us_per_request(r));
  o["client_cpu_fraction"] = known_if(known, r.cpu_fraction());
  o["measured_from_ns"] = known_if(known, r.measured_from_ns);
  o["measured_to_ns"] = known_if(known, r.measured_to_ns);
}

void add_server(boost::json::object& o, const load_result& r) {
  boost::json::array threads;
  for (const thread_use& t : r.server_threads)
    threads.push_back(boost::json::object{{"name", t.name}, {"cpu_fraction", t.fraction}});
  o["server_thread_cpu"] = std::move(threads);
  const disk_bytes disk = r.server_disk.value_or(disk_bytes());
  o["server_read_bytes"] = known_if(r.server_disk.has_value(), disk.read);
  o["server_written_bytes"] = known_if(r.server_disk.has_value(), disk.written);
}

// The samples are a moment wider than the window, so CPU time, switches and calls are rates.
void add_server_use(boost::json::object& o, const load_result& r) {
  for (const char* key : {"server_cpu_us_per_request", "server_user_us_per_request", "context_switches_per_request",
                          "server_threads", "server_rss_bytes", "machine_softirq_fraction", "foreign_cpu_fraction",
                          "syscalls_per_request", "futex_per_request"})
    o[key] = nullptr;
  if (!r.server || !r.measured() || r.requests == 0 || r.server->seconds <= 0) return;
  const server_use& u = *r.server;
  const double rate = r.seconds() / u.seconds / static_cast<double>(r.requests);
  const double cpu_us = u.cpu_s * rate * 1e6;
  o["server_cpu_us_per_request"] = cpu_us;
  if (u.user_fraction) o["server_user_us_per_request"] = cpu_us * *u.user_fraction;
  if (u.switches) o["context_switches_per_request"] = *u.switches * rate;
  o["server_threads"] = u.threads;
  o["server_rss_bytes"] = u.rss_bytes;
  o["machine_softirq_fraction"] = or_null(r.softirq_fraction);
  if (r.machine_utilization) {
    const double ours =
        (u.cpu_s / u.seconds + r.client_cpu_s / r.seconds()) / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    o["foreign_cpu_fraction"] = std::clamp(*r.machine_utilization - ours, 0.0, 1.0);
  }
  if (!r.server_calls) return;
  o["syscalls_per_request"] = static_cast<double>(r.server_calls->all) * rate;
  o["futex_per_request"] = static_cast<double>(r.server_calls->futex) * rate;
}

void add_limits(boost::json::object& o, const load_settings& s, const load_result& r) {
  const network_use net = r.network.value_or(network_use());
  const bool known = r.network && r.requests != 0;
  const auto requests = static_cast<double>(r.requests);
  o["interface"] = known_if(r.network.has_value(), net.interface);
  o["net_bytes_per_request"] = known_if(known, net.bytes / requests);
  o["net_packets_per_request"] = known_if(known, net.packets / requests);
  o["server_busy_fraction"] = or_null(r.server_utilization);
  o["machine_busy_fraction"] = or_null(r.machine_utilization);
  o["disk_wait_fraction"] = or_null(r.disk_utilization);
  add_server(o, r);
  add_server_use(o, r);
  const auto name = r.measured() ? bottleneck_of(r.spent(s.spin.count() != 0)) : std::nullopt;
  o["bottleneck"] = known_if(name.has_value(), name.value_or(""));
}

std::string network_text(const load_settings& s, const load_result& r) {
  if (!r.network || r.requests == 0 || r.network->packets <= 0) return "";
  const auto requests = static_cast<double>(r.requests);
  const workload& w = s.work;
  const bool as_published = w.message_bytes == 8 && w.pipeline == 1 && !w.short_connections;
  return fmt::format(
      "{}: {:.2f} packets and {:.1f} B for a request, {:.1f} B a packet, {:.1f} MB/s, whoever sent them{}\n",
      r.network->interface, r.network->packets / requests, r.network->bytes / requests,
      r.network->bytes / r.network->packets, r.network->bytes / r.seconds() / 1e6,
      as_published ? " (published: 2 packets, 60 B each)" : "");
}

std::string server_text(const load_result& r) {
  constexpr std::size_t shown = 8;
  std::string text;
  double rest = 0;
  for (std::size_t i = 0; i < r.server_threads.size(); ++i) {
    const thread_use& t = r.server_threads[i];
    if (i >= shown)
      rest += t.fraction;
    else
      text += fmt::format("{}{} {:.0f} %", i == 0 ? "server's threads: " : ", ", t.name, 100 * t.fraction);
  }
  if (r.server_threads.size() > shown)
    text += fmt::format(", {} more {:.0f} %", r.server_threads.size() - shown, 100 * rest);
  if (!text.empty()) text += " of a CPU\n";
  if (r.server_disk)
    text += fmt::format("server's disks: {} B read, {} B written\n",
                        with_commas(static_cast<std::uint64_t>(r.server_disk->read)),
                        with_commas(static_cast<std::uint64_t>(r.server_disk->written)));
  return text;
}

std::string bottleneck_text(const load_settings& s, const load_result& r) {
  const utilization spent = r.spent(s.spin.count() != 0);
  std::string parts;
  const auto add = [&](std::string_view what, const std::optional<double>& part) {
    if (part) parts += fmt::format("{}{} {:.0f} %", parts.empty() ? "" : ", ", what, 100 * *part);
  };
  add("client", spent.client);
  add("server", spent.server);
  add("all CPUs", spent.machine);
  add(r.network ? r.network->interface : "network", spent.network);
  add("disk", spent.disk);
  const auto name = bottleneck_of(spent);
  const auto* const unknown = "not known";
  auto text = fmt::format("bottleneck: {} ({})", name ? bottleneck_title(*name) : unknown, parts);
  if (name == "client_cpu") text += "; the server may be faster than this";
  if (name == "none") text += "; too few requests under way, waits, or a rate that was asked for";
  if (!name && !spent.server) text += "; --server-pid PID looks at the server";
  return text + "\n";
}

}  // namespace

boost::json::object to_json(const load_settings& s, const load_result& r) {
  boost::json::object o;
  o["workload"] = s.work.name;
  o["connections"] = s.work.connections;
  o["message_bytes"] = s.work.message_bytes;
  o["pipeline"] = s.work.pipeline;
  o["short"] = s.work.short_connections;
  o["http"] = s.http;
  o["client"] = name_of(s.client);
  o["client_threads"] = s.client == client_kind::blocking ? s.work.connections : s.threads;
  o["spin_us"] = spin_us(s);
  o["rate"] = known_if(s.rate > 0, s.rate);
  o["requests"] = r.requests;
  o["failed"] = r.failed;
  o["first_failure"] = known_if(r.failed != 0, r.first_failure);
  o["due_not_sent"] = r.due_not_sent;
  o["shed"] = r.shed;
  o["over_1s"] = r.over_1s;
  add_throughput(o, s, r);
  add_limits(o, s, r);
  for (const auto& [name, percent] : percentiles)
    o[std::string(name) + "_us"] = microseconds(r.latencies, r.latencies.percentile(percent));
  o["max_us"] = microseconds(r.latencies, r.latencies.max());
  o["mode_ms"] = known_if(r.latencies.total() != 0, r.latencies.mode(1'000'000) / 1'000'000);
  o["cheap_p50_us"] = microseconds(r.cheap, r.cheap.percentile(50));
  o["cheap_p99_us"] = microseconds(r.cheap, r.cheap.percentile(99));
  o["heartbeat_p50_us"] = microseconds(r.heartbeats, r.heartbeats.percentile(50));
  o["heartbeat_p99_us"] = microseconds(r.heartbeats, r.heartbeats.percentile(99));
  o["heartbeat_max_us"] = microseconds(r.heartbeats, r.heartbeats.max());
  o["heartbeat_real_time"] = known_if(s.heartbeat.has_value(), r.heartbeat_is_real_time);
  o["interrupted"] = r.interrupted;
  return o;
}

std::string describe(const load_settings& s) {
  std::string text = fmt::format("{}: {} {}connection{} x {}, depth {}, ", s.work.name, with_commas(s.work.connections),
                                 s.work.short_connections ? "short " : "", s.work.connections == 1 ? "" : "s",
                                 bytes_text(s.work.message_bytes), s.work.pipeline);
  if (s.http) text += "HTTP, ";
  text += s.rate > 0 ? fmt::format("{:.0f} requests/s by schedule, ", s.rate) : "closed loop, ";
  if (s.client == client_kind::blocking) return text + "blocking client";
  text += s.client == client_kind::epoll ? "epoll client" : "client over shared memory";
  text += fmt::format(" with {} thread{}", s.threads, s.threads == 1 ? "" : "s");
  return s.spin.count() == 0 ? text : text + fmt::format(", spinning for up to {} us", spin_us(s));
}

std::string to_text(const load_settings& s, const load_result& r) {
  if (!r.measured()) return "nothing was measured\n";
  std::string text = fmt::format(
      "{} requests in {:.2f} s: {} requests/s, {:.2f} MB/s each way\n", with_commas(r.requests), r.seconds(),
      with_commas(static_cast<std::uint64_t>(std::llround(r.requests_per_s()))), megabytes(s, r));
  text += outcome_text(r.requests, r.failed) + '\n';
  if (r.failed != 0) text += fmt::format("first failure: {}\n", r.first_failure);
  text += "latency: " + latency_text(r.latencies) + '\n';
  if (r.cheap.total() > 0) text += "of those that are not expensive: " + latency_text(r.cheap) + '\n';
  if (r.shed > 0) text += fmt::format("overloaded, the server has shed {} more\n", with_commas(r.shed));
  if (r.over_1s > 0) text += fmt::format("{} took longer than a second\n", with_commas(r.over_1s));
  if (s.heartbeat)
    text += "heartbeat: " + latency_text(r.heartbeats) +
            (r.heartbeat_is_real_time ? "\n" : "  (the probe may not be real-time: its own delays included)\n");
  if (r.rate_missed())
    text += fmt::format("the rate was too high: {} requests that were due could not be sent\n",
                        with_commas(r.due_not_sent));
  text += fmt::format("client: {:.2f} us of CPU per request, {:.0f} % busy\n", client_us_per_request(r),
                      100 * r.cpu_fraction());
  return text + server_text(r) + network_text(s, r) + bottleneck_text(s, r);
}

std::string distribution_text(const histogram& latencies, double requests_per_s) {
  const auto line = [&](std::uint64_t count, std::uint64_t ns) {
    const auto hundredths = count * 10'000 / latencies.total();
    return fmt::format("{}.{:02}% <= {} milliseconds\n", hundredths / 100, hundredths % 100,
                       std::ceil(static_cast<double>(ns) / 1e3) / 1e3);
  };
  std::string text;
  std::uint64_t shown = 0;
  for (auto bound = next_bound(0); bound < latencies.max(); bound = next_bound(bound)) {
    const auto count = latencies.count_up_to(bound);
    if (count > shown) text += line(count, bound);
    shown = count;
  }
  if (latencies.total() > 0) text += line(latencies.total(), latencies.max());
  return text + fmt::format("{:.2f} requests per second\n", requests_per_s);
}

std::string outcome_text(std::uint64_t ok, std::uint64_t failed) {
  const auto all = static_cast<double>(std::max<std::uint64_t>(ok + failed, 1));
  return fmt::format("ok {}  failed {}  success {:.3f} %", with_commas(ok), with_commas(failed),
                     std::floor(1e5 * static_cast<double>(ok) / all) / 1e3);
}

std::string with_commas(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

}  // namespace quintet::bench
