// SPDX-License-Identifier: BSL-1.0
// bus_run.cpp: starts the processes, samples them from outside, and compares what was sent with what arrived.
#include "bus/bus_run.hpp"

#include "load/server_sample.hpp"
#include "unique_fd.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/interprocess/anonymous_shared_memory.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace quintet::bench {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds warm_up{100}, step{20}, patience{20'000};

// Makes the boards, in memory of all processes of a run that are started afterwards.
std::span<node_board> make_boards(const boost::interprocess::mapped_region& in, std::size_t count) {
  auto* const first = static_cast<node_board*>(in.get_address());
  std::uninitialized_default_construct_n(first, count);
  return {first, count};
}

// A node in a process of its own, which ends with this object and with this process.
class child {
 public:
  child(const bus_traffic& traffic, const node_role& role, std::span<node_board> all, unsigned cpu) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket pair");
    control_ = unique_fd(ends[0]);
    const unique_fd other(ends[1]);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot start a process");
    if (pid_ == 0) serve(traffic, role, all, cpu, parent, other.get());
  }
  child(child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), control_(std::move(other.control_)) {}
  child& operator=(child&&) = delete;
  ~child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void tell(char what) const { (void)::send(control_.get(), &what, 1, MSG_NOSIGNAL); }
  void await(char wanted) const {
    pollfd p{.fd = control_.get(), .events = POLLIN, .revents = 0};
    int ready = 0;
    while ((ready = ::poll(&p, 1, static_cast<int>(patience.count()))) < 0 && errno == EINTR) {
    }
    if (ready <= 0) throw std::runtime_error(fmt::format("a node's process did not answer in time ({})", wanted));
    char got = 0;
    if (::recv(control_.get(), &got, 1, 0) != 1 || got != wanted) throw std::runtime_error("a node's process ended");
  }
  [[nodiscard]] int control() const { return control_.get(); }

 private:
  [[noreturn]] static void serve(const bus_traffic& traffic, const node_role& role, std::span<node_board> all,
                                 unsigned cpu, pid_t parent, int control) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it ended before the call
    try {
      pin_thread({cpu});
      node_process(traffic, role, all, fmt::format("quintet-bench.{}", parent), control).run();
    } catch (const std::exception& e) {
      fmt::print(stderr, "node {}: {}\n", role.id, e.what());
      ::_exit(1);
    }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  unique_fd control_;
};

std::size_t count_of(const bus_settings& s) {
  return s.all_to_all > 0 ? s.all_to_all : s.senders + 1 + (s.has_relay ? 1 : 0);
}

// Senders connect to the relay, and the relay to the receiver.
node_role relayed_role(const bus_settings& s, std::uint64_t id) {
  const std::uint64_t relay = count_of(s);
  if (id == 1) return {.id = id, .dials = {}, .targets = {}, .links = 1, .relay = {}, .forwards_for = 0};
  if (id == relay)
    return {.id = id, .dials = {1}, .targets = {}, .links = s.senders + 1, .relay = {}, .forwards_for = s.senders};
  return {.id = id, .dials = {relay}, .targets = {1}, .links = 1, .relay = relay, .forwards_for = 0};
}

// Each pair has one link, which the node with the smaller id connects; a receiver is connected by its senders.
node_role role_of(const bus_settings& s, std::uint64_t id) {
  if (s.has_relay && s.all_to_all == 0) return relayed_role(s, id);
  node_role role{.id = id, .dials = {}, .targets = {}, .links = 0, .relay = {}, .forwards_for = 0};
  for (std::uint64_t other = 1; other <= count_of(s); ++other) {
    if (other == id || (s.all_to_all == 0 && id != 1 && other != 1)) continue;
    ++role.links;
    if (s.all_to_all > 0 ? id < other : id != 1) role.dials.push_back(other);
    if (s.all_to_all > 0 || id != 1) role.targets.push_back(other);
  }
  return role;
}

// Nobody answers before a command. So an input is the end of a process.
void wait_for(const std::vector<child>& all, std::chrono::nanoseconds time) {
  std::vector<pollfd> ends;
  for (const child& c : all) ends.push_back({.fd = c.control(), .events = POLLIN, .revents = 0});
  const auto until = std::chrono::steady_clock::now() + time;
  for (auto left = time; left.count() > 0; left = until - std::chrono::steady_clock::now()) {
    const auto rounded = std::chrono::ceil<milliseconds>(left);
    if (::poll(ends.data(), ends.size(), static_cast<int>(rounded.count())) > 0)
      throw std::runtime_error("a node's process ended");
  }
}

void tell_all(const std::vector<child>& all, char command, char answer) {
  for (const child& c : all) c.tell(command);
  for (const child& c : all) c.await(answer);
}

struct moment {
  std::vector<server_sample> samples;
  std::vector<std::uint64_t> checksum_ns;
  std::uint64_t messages = 0, bytes = 0, writes = 0;
};

moment look(const std::vector<child>& all, std::span<const node_board> figures) {
  moment out;
  for (const node_board& b : figures) {
    out.messages += b.messages;
    out.bytes += b.bytes;
    out.writes += b.writes;
    out.checksum_ns.push_back(b.checksum_ns);
  }
  for (const child& c : all) {
    const auto found = sample_server(c.pid());
    if (!found) throw std::runtime_error("a node's process ended");
    out.samples.push_back(*found);
  }
  return out;
}

// Throws if anything is amiss. Returns the number of messages.
std::uint64_t settle(std::span<const node_board> figures) {
  std::uint64_t sent = 0;
  received_counts got;
  for (const node_board& b : figures) {
    sent += b.sent;
    got.messages += b.messages;
    got.wrong += b.wrong;
    got.lost += b.lost;
    got.doubled += b.doubled;
  }
  const std::uint64_t arrived = got.messages - got.doubled;
  const std::uint64_t lost = got.lost > 0 || arrived > sent ? got.lost : sent - arrived;
  if (got.wrong + lost + got.doubled > 0 || arrived != sent)
    throw std::runtime_error(
        fmt::format("of {} messages {} were wrong, {} lost, {} doubled", sent, got.wrong, lost, got.doubled));
  return sent;
}

}  // namespace

std::vector<unsigned> place_nodes(const bus_settings& s) {
  const cpu_list cpus = s.cpus.empty() ? allowed_cpus() : s.cpus;
  if (s.all_to_all > 0 || cpus.size() == 1) {
    std::vector<unsigned> out;
    for (std::size_t i = 0; i < count_of(s); ++i) out.push_back(cpus[i % cpus.size()]);
    return out;
  }
  cpu_list others = cpus;
  others.erase(others.begin() + 1);
  std::vector<unsigned> out{cpus[1]};
  for (std::size_t i = 0; out.size() < count_of(s); ++i) out.push_back(others[i % others.size()]);
  return out;
}

bus_result run_bus(const bus_settings& s) {
  const std::vector<unsigned> places = place_nodes(s);
  const auto memory = boost::interprocess::anonymous_shared_memory(places.size() * sizeof(node_board));
  const std::span<node_board> boards = make_boards(memory, places.size());
  std::vector<child> all;
  std::vector<pid_t> pids;
  for (std::size_t i = 0; i < places.size(); ++i) {
    all.emplace_back(s.traffic, role_of(s, i + 1), boards, places[i]);
    pids.push_back(all.back().pid());
  }
  for (const child& c : all) c.await(node_command::listening);
  tell_all(all, node_command::connect, node_command::linked);
  for (const child& c : all) c.tell(node_command::send);
  wait_for(all, warm_up);
  const moment before = look(all, boards);
  wait_for(all, s.duration);
  moment after = look(all, boards);
  for (auto more = patience; after.messages == before.messages && more.count() > 0; more -= step) {
    wait_for(all, step);  // on a busy machine
    after = look(all, boards);
  }
  bus_result out{.messages = after.messages - before.messages,
                 .bytes = after.bytes - before.bytes,
                 .writes = after.writes - before.writes,
                 .processes = {},
                 .segments = read_segments(pids)};
  tell_all(all, node_command::stop, node_command::drained);
  out.checked = settle(boards);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const server_use used = use_between(before.samples[i], after.samples[i]);
    out.seconds = used.seconds;
    out.processes.push_back({.sends = !role_of(s, i + 1).targets.empty(),
                             .receives = s.all_to_all > 0 || i == 0,
                             .cpu = places[i],
                             .cpu_s = used.cpu_s,
                             .rss_bytes = used.rss_bytes,
                             .switches = used.switches.value_or(0),
                             .checksum_s = static_cast<double>(after.checksum_ns[i] - before.checksum_ns[i]) / 1e9});
    all[i].tell(node_command::end);
  }
  return out;
}

}  // namespace quintet::bench
