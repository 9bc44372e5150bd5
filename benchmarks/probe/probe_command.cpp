// SPDX-License-Identifier: BSL-1.0
// probe_command.cpp: `quintet-bench probe KIND`: one measurement close to the hardware or the kernel, as one line of
// JSON. Other commands repeat, compare and show it.
#include "bus/bus_run.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "piece_stream.hpp"
#include "probe/chase.hpp"
#include "probe/costs.hpp"
#include "probe/hashes.hpp"
#include "probe/receiver.hpp"
#include "probe/two_threads.hpp"
#include "probe/zero_copy.hpp"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <memory>
#include <stdexcept>

namespace quintet::bench {
namespace {

namespace json = boost::json;
using std::chrono::nanoseconds;

struct probe_options {
  nanoseconds duration = std::chrono::milliseconds(200);
  cpu_list cpus;
  std::size_t bytes = 16 * 1024;
  std::string layout = "adjacent";
  std::string wait = "read";
  hash_kind hash = find_hash("xxh3");
  std::uint64_t increments = 10'000'000;
  endpoint server;
  pid_t server_pid = 0;
  count_range sizes{8, 128};
  bus_settings bus;
};

/// The first two of the given or allowed CPUs.
std::pair<unsigned, unsigned> two_cpus(const probe_options& o) {
  const auto cpus = o.cpus.empty() ? allowed_cpus() : o.cpus;
  if (cpus.size() < 2) throw usage_error("it needs two CPUs, and there is one");
  return {cpus[0], cpus[1]};
}

json::object probe_memory(const probe_options& o) {
  pin_thread(o.cpus);  // before the memory is taken, so that it is near this CPU
  pointer_chase chase(o.bytes, o.bytes);
  return {{"bytes", o.bytes}, {"ns_per_load", chase.measure(o.duration)}};
}

json::object probe_ping_pong(const probe_options& o) {
  const auto [first, second] = two_cpus(o);
  return {{"cpus", {first, second}}, {"ns_one_way", measure_ping_pong(first, second, o.duration)}};
}

json::object probe_doorbell(const probe_options& o) {
  const auto [first, second] = two_cpus(o);
  const auto how = o.wait == "epoll" ? doorbell_wait::epoll : doorbell_wait::read;
  const histogram trips = measure_doorbell(first, second, how, o.duration);
  const auto microseconds = [&](double percent) { return static_cast<double>(trips.percentile(percent)) / 1e3; };
  return {{"cpus", {first, second}},
          {"wait", o.wait},
          {"round_trips", trips.total()},
          {"p50_us", microseconds(50)},
          {"p99_us", microseconds(99)}};
}

json::object probe_false_sharing(const probe_options& o) {
  const auto [first, second] = two_cpus(o);
  const auto layout = o.layout == "padded" ? counter_layout::padded : counter_layout::adjacent;
  const auto found = count_side_by_side({first, second, o.increments}, layout);
  return {{"layout", o.layout}, {"ns_per_increment", found.ns}, {"increments", found.increments}};
}

json::object probe_hash(const probe_options& o) {
  const std::string kind(o.hash.name);
  if (!o.hash.function) return {{"kind", kind}, {"bytes", o.bytes}, {"error", "not supported by this CPU"}};
  pin_thread(o.cpus);
  const double ns = measure_hash(o.hash, o.bytes, o.duration);
  const double bytes_per_s = static_cast<double>(o.bytes) / ns * 1e9;
  return {{"kind", kind}, {"bytes", o.bytes}, {"bytes_per_s", bytes_per_s}, {"ns_per_hash", ns}};
}

json::object probe_costs(const probe_options& o) {
  const auto [first, second] = two_cpus(o);
  const machine_costs c = measure_costs(first, second, o.duration);
  json::array wakes;
  for (const wake_cost& w : c.wakes)
    wakes.push_back(json::object{{"idle_us", w.idle}, {"cost_us", w.cost}, {"latency_us", w.latency}});
  return {{"wakes", std::move(wakes)},
          {"context_switch_us", c.context_switch},
          {"work_factor", c.work_factor},
          {"turn_us", c.turn},
          {"accept_us", c.accept},
          {"lock_us", c.lock},
          {"line_us", c.line}};
}

json::object probe_receive(const probe_options& o) {
  if (o.server.host.empty() || o.server_pid == 0) throw usage_error("HOST:PORT and --server-pid are required");
  pin_thread(o.cpus);
  const auto r = receive_messages(resolve(o.server), o.server_pid, o.sizes, o.duration);
  const double messages = static_cast<double>(r.bytes) / r.mean_message_bytes;
  return {{"seconds", r.sender.seconds},
          {"bytes_per_s", static_cast<double>(r.bytes) / r.sender.seconds},
          {"messages_per_s", messages / r.sender.seconds},
          {"mean_message_bytes", r.mean_message_bytes},
          {"sender_cpu_us_per_message", r.sender.cpu_s * 1e6 / messages},
          {"sender_cpu", r.sender.cpu_s / r.sender.seconds},
          {"receiver_cpu", r.receiver_cpu_s / r.sender.seconds},
          {"sender_rss_bytes", r.sender.rss_bytes}};
}

json::object probe_zero_copy(const probe_options& o) {
  json::object out{{"bytes", o.bytes}};
  for (const bool zero_copy : {false, true}) {
    const zero_copy_cost c = measure_zero_copy(o.bytes, zero_copy, o.duration);
    json::object one{{"bytes_per_s", c.bytes_per_s}, {"cpu_us_per_send", c.cpu_us_per_send}};
    if (zero_copy) one["copied_fraction"] = c.copied_fraction;
    if (!c.error.empty()) one = {{"error", c.error}};
    out[zero_copy ? "zero_copy" : "copied"] = std::move(one);
  }
  return out;
}

count_range parse_bus_sizes(const std::string& text) {
  const count_range sizes = parse_range(text, numbered_messages::largest);
  if (sizes.min >= numbered_messages::smallest) return sizes;
  throw usage_error(fmt::format("\"{}\" has messages of fewer than {} bytes: no room for their number", text,
                                numbered_messages::smallest));
}

json::object side_json(const bus_result& r, bool process_use::* side) {
  double cpu_s = 0, rss_bytes = 0, switches = 0, count = 0, checksum_s = 0;
  for (const process_use& one : r.processes) {
    if (!(one.*side)) continue;
    ++count;
    cpu_s += one.cpu_s;
    rss_bytes += one.rss_bytes;
    switches += one.switches;
    checksum_s += one.checksum_s;
  }
  const double messages = static_cast<double>(r.messages);
  return {{"cpu", cpu_s / r.seconds},
          {"cpu_us_per_message", cpu_s * 1e6 / messages},
          {"rss_bytes", rss_bytes / count},
          {"switches_per_message", switches / messages},
          {"checksum_share", cpu_s > 0 ? checksum_s / cpu_s : 0}};
}

json::object to_json(const bus_result& r, bool cpus_shared) {
  const double messages = static_cast<double>(r.messages);
  json::array cpus;
  for (const process_use& one : r.processes) cpus.push_back(one.cpu);
  return {{"seconds", r.seconds},
          {"messages_per_s", messages / r.seconds},
          {"bytes_per_s", static_cast<double>(r.bytes) / r.seconds},
          {"writes_per_message", static_cast<double>(r.writes) / messages},
          {"sender", side_json(r, &process_use::sends)},
          {"receiver", side_json(r, &process_use::receives)},
          {"checked", r.checked},
          {"cpus", std::move(cpus)},
          {"cpus_shared", cpus_shared},
          {"segments", r.segments.count},
          {"segment_bytes", r.segments.bytes},
          {"segment_resident_bytes", r.segments.resident_bytes}};
}

json::object probe_bus(const probe_options& o) {
  bus_settings s = o.bus;
  if (s.traffic.route == bus_route::mem) throw usage_error("--route: mem is for nodes of one process");
  if (s.all_to_all == 1)
    throw usage_error("--all-to-all: one node has nobody to send to; it must be 0 or from 2 to 16");
  if (s.traffic.checksum.function && o.sizes.min < numbered_messages::smallest_summed)
    throw usage_error(
        fmt::format("--checksum: messages must have at least {} bytes", numbered_messages::smallest_summed));
  if (s.has_relay && s.all_to_all > 0) throw usage_error("--relay: nodes that all send have no relay");
  s.traffic.sizes = o.sizes;
  s.cpus = o.cpus;
  s.duration = o.duration;
  const bus_result r = run_bus(s);
  if (r.messages == 0) throw std::runtime_error("no message arrived within the measured time");
  return to_json(r, r.processes.size() > (s.cpus.empty() ? allowed_cpus() : s.cpus).size());
}

using probe = json::object (*)(const probe_options&);

CLI::App& add_kind(CLI::App& probes, const std::shared_ptr<probe_options>& o, const char* name, const char* about,
                   probe measure) {
  CLI::App& sub = *probes.add_subcommand(name, about);
  add_parsed(sub, "--cpus CPUS", o->cpus, parse_cpus, "CPUs to use, such as 0,1 (default: those that are allowed)");
  add_parsed(sub, "--duration S", o->duration, parse_duration, "time of a measurement (200ms)");
  sub.callback([o, measure] { fmt::print("{}\n", json::serialize(measure(*o))); });
  return sub;
}

}  // namespace

void add_probe(CLI::App& app) {
  CLI::App& probes = *app.add_subcommand("probe", "Measures one cost of this machine, as one line of JSON.");
  probes.require_subcommand(1);
  probes.footer("Example: quintet-bench probe memory --bytes 1m --cpus 0");
  const auto o = std::make_shared<probe_options>();
  auto& memory = add_kind(probes, o, "memory", "loads that wait for the one before", probe_memory);
  add_parsed(memory, "--bytes", o->bytes, size_in(4096, std::size_t{1} << 40), "the working set (16k)");
  add_kind(probes, o, "ping-pong", "a cache line from one CPU to another", probe_ping_pong);
  auto& doorbell = add_kind(probes, o, "doorbell", "two threads that wake each other by eventfds", probe_doorbell);
  doorbell.add_option("--wait", o->wait, "read: in a blocking read; epoll: in epoll_wait, then a read (read)")
      ->check(CLI::IsMember({"read", "epoll"}));
  auto& sharing = add_kind(probes, o, "false-sharing", "two threads with a counter each", probe_false_sharing);
  sharing.add_option("--layout", o->layout, "adjacent: in one cache line; padded: in two")
      ->check(CLI::IsMember({"adjacent", "padded"}));
  add_parsed(sharing, "--increments", o->increments, number_in<std::uint64_t>(100'000, 1'000'000'000),
             "of each counter (10000000)");
  auto& hash = add_kind(probes, o, "hash", "the checksum of a message", probe_hash);
  add_parsed(hash, "--kind", o->hash, find_hash, "map-crc32, map-crc64, crc32, crc64, murmur3, crc32c or xxh3 (xxh3)");
  add_parsed(hash, "--bytes", o->bytes, size_in(1, std::size_t{1} << 20), "of the message (16k)");
  add_kind(probes, o, "costs", "waking, switching, locking, accepting", probe_costs);
  auto& zero_copy = add_kind(probes, o, "zero-copy", "MSG_ZEROCOPY over loopback beside a plain send", probe_zero_copy);
  add_parsed(zero_copy, "--bytes", o->bytes, size_in(1, std::size_t{1} << 30), "of each send (16k)");
  auto& receive = add_kind(probes, o, "receive", "messages of `serve --workload ask --pieces`", probe_receive);
  add_parsed(receive, "server HOST:PORT", o->server, parse_endpoint, "where the server listens");
  add_parsed(receive, "--server-pid", o->server_pid, number_in<pid_t>(1), "the server's process");
  add_parsed(receive, "--sizes", o->sizes, range_up_to(piece_stream::largest), "MIN..MAX bytes of a message (8..128)");
  auto& bus = add_kind(probes, o, "bus", "processes that send to one, or all to all, over the bus", probe_bus);
  add_parsed(bus, "--route", o->bus.traffic.route, named<bus_route>("a route"), "shm, unix or tcp (shm)");
  add_parsed(bus, "--sizes", o->sizes, parse_bus_sizes, "MIN..MAX bytes of a message, from 8 on (8..128)");
  add_parsed(bus, "--senders", o->bus.senders, number_in(1U, 16U), "processes that send to one receiver (1)");
  add_parsed(bus, "--all-to-all", o->bus.all_to_all, number_in(0U, 16U), "instead: processes that all send (0: none)");
  add_parsed(bus, "--seed", o->bus.traffic.seed, number_in<std::uint64_t>(0), "of sizes and contents (1)");
  add_parsed(bus, "--static-output", o->bus.traffic.static_output, number_in<std::size_t>(0, 1U << 30U),
             "bytes of send buffers that each process makes at its start (0: from the heap)");
  add_parsed(bus, "--checksum", o->bus.traffic.checksum, find_hash,
             "that each message carries, as of hash --kind (none)");
  bus.add_flag("--relay", o->bus.has_relay, "senders reach the receiver through one more node");
  bus.add_flag_callback(
      "--no-merging", [o] { o->bus.traffic.merging = false; }, "a message in a turn of the loop, and so in a write");
}

}  // namespace quintet::bench
