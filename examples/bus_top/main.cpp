// SPDX-License-Identifier: BSL-1.0
// bus_top: the routes, counters and shared memory of a node of the bus, again and again.
#include <quintet/bus/bus_node.hpp>

#include "bus_report.hpp"
#include "common/options.hpp"
#include "segments.hpp"

#include <chrono>
#include <cstdio>
#include <future>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

namespace {

using namespace quintet;

void print_ring(const char* direction, const bus_top::ring_state& now, std::size_t ring_size) {
  const std::uint64_t waiting = now.produced - now.consumed;
  std::printf("  %s %14llu bytes, %3.0f %% full%s%s\n", direction, static_cast<unsigned long long>(now.produced),
              100.0 * static_cast<double>(waiting) / static_cast<double>(ring_size),
              now.reader_sleeps ? ", its reader sleeps" : "", now.writer_waits ? ", its writer waits" : "");
}

void print_memory(const example::bus_report& r) {
  for (const bus_top::file_state& f : bus_top::files_of(r.process, r.ring_size)) {
    std::printf("shared memory: %zu bytes, %zu of them used, for %zu connections\n", f.size, f.resident, f.places);
    for (const bus_top::place_state& p : f.used) {
      std::printf(" place %zu\n", p.place);
      print_ring("from the node:", p.rings[0], r.ring_size);
      print_ring("to the node:  ", p.rings[1], r.ring_size);
    }
  }
}

void print(std::uint64_t id, const example::bus_report& r, bool is_on_this_host) {
  if (::isatty(STDOUT_FILENO) != 0) std::printf("\033[H\033[2J");
  std::printf("node %llu, process %d\n", static_cast<unsigned long long>(id), static_cast<int>(r.process));
  for (const auto& [peer, route] : r.routes)
    std::printf("route to %llu: %s\n", static_cast<unsigned long long>(peer), route.c_str());
  for (const auto& [name, value] : r.counters)
    if (value != 0) std::printf("%-16s %14llu\n", name.c_str(), static_cast<unsigned long long>(value));
  if (is_on_this_host) print_memory(r);  // elsewhere the process is another one
  std::fflush(stdout);
}

/// Asks for a report and waits for it.
class asking {
 public:
  asking(std::uint64_t own, std::uint64_t of, const std::string& at) : of_(of), node_(options(own)) {
    node_.connect(of, {at});
    node_.run_in_background();
  }
  example::bus_report ask() {
    std::promise<std::string> answer;
    std::future<std::string> arrived = answer.get_future();
    node_.loop().post([this, &answer]() noexcept {
      answer_ = &answer;
      (void)node_.send(of_, example::bus_report_request);
    });
    if (arrived.wait_for(std::chrono::seconds(5)) == std::future_status::ready)
      return example::bus_report_from(arrived.get());
    forget();
    throw std::runtime_error("node " + std::to_string(of_) + " does not answer");
  }
  [[nodiscard]] bool is_on_this_host() const {
    const std::optional<bus_route> route = node_.route_of(of_);
    return route == bus_route::shm || route == bus_route::unix_socket;
  }

 private:
  bus_options options(std::uint64_t own) {
    return {.id = own, .on_messages = [this](std::span<const bus_message> all) {
              for (const bus_message& m : all)
                if (auto* const waits = m.source == of_ ? std::exchange(answer_, nullptr) : nullptr)
                  waits->set_value(std::string(m.payload));
            }};
  }
  // After this the loop does not touch the promise.
  void forget() {
    std::promise<void> done;
    node_.loop().post([&]() noexcept {
      answer_ = nullptr;
      done.set_value();
    });
    done.get_future().wait();
  }

  const std::uint64_t of_;
  std::promise<std::string>* answer_ = nullptr;
  bus_node node_;
};

// Two programs with one number would replace each other's connection.
std::size_t random_id() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U | random()) | 1U;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t id = 0, own = random_id(), times = 0, interval_ms = 1000;
  std::string at;
  example::command_line("bus_top", "The routes, counters and shared memory of a node that runs bus_worker.")
      .number("--node", id, 1, ~std::size_t{0}, "number of the node")
      .text("--at", at, "where it listens: unix:/path or tcp:ADDRESS:PORT", "ADDRESS")
      .number("--own-id", own, 1, ~std::size_t{0}, "number of this program on the bus; random if not given")
      .number("--times", times, 0, 1'000'000'000, "reports until the end; 0: until Ctrl-C")
      .number("--interval-ms", interval_ms, 10, 3'600'000, "milliseconds between two reports")
      .try_it("  bus_worker --id 1 --listen unix:/tmp/1.bus &\n  bus_top --node 1 --at unix:/tmp/1.bus --times 1")
      .parse(argc, argv);
  try {
    if (id == 0) throw config_error("--node is missing; it must be the number of a node");
    if (at.empty()) throw config_error("--at is missing; it must be the address at which the node listens");
    asking node(own, id, at);
    for (std::size_t i = 0; times == 0 || i < times; ++i) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(interval_ms));
      const example::bus_report report = node.ask();
      print(id, report, node.is_on_this_host());
    }
  } catch (...) {
    return example::report_exception("bus_top");
  }
}
