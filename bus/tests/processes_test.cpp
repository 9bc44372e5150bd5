// SPDX-License-Identifier: BSL-1.0
// processes_test: nodes in several processes: which route they take, and what a peer's death costs.
// ctest: EACH_ENGINE
#include <boost/test/unit_test.hpp>

#include "../../net/tests/support/long_runs.hpp"
#include "../../net/tests/support/sockets.hpp"
#include "bus_world.hpp"

#include <atomic>
#include <fstream>
#include <new>
#include <set>
#include <sstream>

#include <sys/mman.h>

namespace quintet::test {
namespace {

using namespace std::chrono_literals;

/// What a child tells its parent, in memory that both have.
struct shared_notes {
  std::atomic<std::uint64_t> next{0};   // number of the message that no child has received yet
  std::atomic<std::uint64_t> wrong{0};  // messages that were missing, changed, out of order, or repeated by one child
  static shared_notes& make() {
    void* const memory =
        ::mmap(nullptr, sizeof(shared_notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return *new (memory) shared_notes;
  }
};

/// A child may begin with messages that its predecessor had received and not acknowledged. After that it is strict.
bus_options noting_child(std::vector<std::string> listen, shared_notes& notes, bool shared_memory = true) {
  auto own = std::make_shared<std::optional<std::uint64_t>>();
  return {.id = 2,
          .listen = std::move(listen),
          .on_messages =
              [own, &notes](std::span<const bus_message> all) {
                for (const bus_message& m : all) {
                  const std::uint64_t n = number_of(m.payload);
                  if (m.payload != numbered(n) || n > (*own ? **own : notes.next.load())) ++notes.wrong;
                  if (*own && n != **own) ++notes.wrong;
                  *own = n + 1;
                  if (n >= notes.next) notes.next = n + 1;
                }
              },
          .shared_memory = shared_memory};
}

// The child may listen at one address before the other, so the first route may be another one.
void check_route(bus_route expected, const std::vector<std::string>& addresses, bool child_has_shared_memory) {
  shared_notes& notes = shared_notes::make();
  forked_node child([&] { return noting_child(addresses, notes, child_has_shared_memory); });
  noting_node n({.id = 1});
  n.node.connect(2, addresses);
  BOOST_TEST(drive_until({&n}, [&] { return n.node.route_of(2) == expected; }));
  for (std::uint64_t i = 0; i < 100; ++i) BOOST_TEST(!n.node.send(2, numbered(i)));
  BOOST_TEST(drive_until({&n}, [&] { return notes.next == 100; }));
  BOOST_TEST(notes.wrong == 0U);
  BOOST_TEST((n.node.route_of(2) == expected));
}

BOOST_AUTO_TEST_CASE(the_fastest_route_that_both_processes_have_is_taken) {
  const testing::own_address port;
  const std::string tcp = "tcp:" + port.text();
  check_route(bus_route::shm, {tcp, fresh_bus_address()}, true);
  check_route(bus_route::unix_socket, {tcp, fresh_bus_address()}, false);
  check_route(bus_route::tcp, {tcp}, true);
}

BOOST_AUTO_TEST_CASE(a_faster_route_is_taken_when_it_appears_and_left_when_it_dies) {
  const testing::own_address port;
  const std::string tcp = "tcp:" + port.text();
  const std::string local = fresh_bus_address();
  shared_notes& notes = shared_notes::make();
  auto child = std::make_unique<forked_node>([&] { return noting_child({tcp}, notes); });
  noting_node n({.id = 1, .reconnect = {.lasted = 1ms}});
  n.node.connect(2, {tcp, local});
  BOOST_TEST(drive_until({&n}, [&] { return n.node.route_of(2) == bus_route::tcp; }));
  child.reset();
  child = std::make_unique<forked_node>([&] { return noting_child({tcp, local}, notes); });
  BOOST_TEST(drive_until({&n}, [&] { return n.node.route_of(2) == bus_route::shm; }));
  child.reset();
  child = std::make_unique<forked_node>([&] { return noting_child({tcp}, notes); });
  BOOST_TEST(drive_until({&n}, [&] { return n.node.route_of(2) == bus_route::tcp; }));
}

// QUINTET_LONG=1 kills a thousand times; scripts/ci/long does.
BOOST_AUTO_TEST_CASE(a_peer_that_is_killed_and_restarted_misses_nothing) {
  const std::uint64_t lives = is_long() ? 1000 : 20;
  const std::string at = fresh_bus_address();
  shared_notes& notes = shared_notes::make();
  std::uint64_t sent = 0, completed = 0, failed = 0;
  noting_node n({.id = 1, .max_unacknowledged = 256 * 1024});
  n.node.connect(2, {at});
  const auto send_some = [&] {
    n.node.loop().post([&] {
      const auto done = [&](error_code why) { ++(why ? failed : completed); };
      for (int i = 0; i < 10 && !n.node.send(2, numbered(sent), done); ++i) ++sent;
    });
  };
  for (std::uint64_t life = 1; life <= lives; ++life) {
    forked_node child([&] { return noting_child({at}, notes); });
    const std::uint64_t goal = notes.next + 500;
    BOOST_TEST_REQUIRE(drive_until({&n}, [&] {
      send_some();
      return notes.next >= goal;
    }));
  }
  forked_node last([&] { return noting_child({at}, notes); });
  BOOST_TEST(drive_until({&n}, [&] { return completed == sent; }));
  BOOST_TEST(failed == 0U);
  BOOST_TEST(notes.next == sent);
  BOOST_TEST(notes.wrong == 0U);
  const bus_statistics s = n.node.statistics();
  BOOST_TEST(s.peer_restarts == lives);
  BOOST_TEST(s.reconnects == lives);
  BOOST_TEST(s.malformed == 0U);
}

BOOST_AUTO_TEST_CASE(messages_to_a_predecessor_fail_if_the_program_says_so) {
  const std::string at = fresh_bus_address();
  shared_notes& notes = shared_notes::make();
  noting_node n({.id = 1, .on_restart = bus_restart_policy::fail});
  n.node.connect(2, {at});
  auto child = std::make_unique<forked_node>([&] { return noting_child({at}, notes); });
  BOOST_TEST(drive_until({&n}, [&] { return n.node.route_of(2).has_value(); }));
  child.reset();
  BOOST_TEST(drive_until({&n}, [&] { return !n.node.route_of(2); }));
  std::vector<error_code> results;
  for (std::uint64_t i = 0; i < 10; ++i)
    BOOST_TEST(!n.node.send(2, numbered(i), [&](error_code why) { results.push_back(why); }));
  child = std::make_unique<forked_node>([&] { return noting_child({at}, notes); });
  BOOST_TEST(drive_until({&n}, [&] { return results.size() == 10; }));
  for (const error_code& why : results) BOOST_TEST(why == system_error_code(ECONNRESET));
  BOOST_TEST(!n.node.send(2, numbered(0)));
  BOOST_TEST(drive_until({&n}, [&] { return notes.next == 1; }));
  BOOST_TEST(n.node.statistics().failed == 10U);
}

/// Adds the inodes of the files in memory that a process maps.
void add_mapped_files(pid_t pid, std::set<std::string>& all) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::string range, access, offset, device, inode, name;
  for (std::string line; std::getline(maps, line);)
    if (std::istringstream(line) >> range >> access >> offset >> device >> inode >> name && name == "/memfd:quintet")
      all.insert(inode);
}

/// Returns how many files in memory six nodes have that are all linked, each a process.
std::size_t files_of_six_nodes(unsigned connections_per_file) {
  constexpr std::uint64_t count = 6;
  std::vector<std::string> at(count + 1);
  for (std::uint64_t id = 1; id <= count; ++id) at[id] = fresh_bus_address();
  shared_notes& notes = shared_notes::make();
  const auto options = [&](std::uint64_t id) {
    return bus_options{.id = id, .listen = {at[id]}, .connections_per_file = connections_per_file};
  };
  const auto connect_upwards = [&](bus_node& node, std::uint64_t from) {
    for (std::uint64_t to = from + 1; to <= count; ++to) node.connect(to, {at[to]});
  };
  std::vector<std::unique_ptr<forked_node>> others;
  for (std::uint64_t id = 2; id <= count; ++id)
    others.push_back(std::make_unique<forked_node>(
        [&, id] {
          bus_options o = options(id);
          o.on_route = [&](std::uint64_t, std::optional<bus_route> r) { notes.next += r == bus_route::shm; };
          return o;
        },
        [&, id](bus_node& node) { connect_upwards(node, id); }));
  noting_node here(options(1));
  connect_upwards(here.node, 1);
  BOOST_TEST(drive_until({&here}, [&] {
    return here.node.statistics().connections >= count - 1 && notes.next >= (count - 1) * (count - 1);
  }));
  std::set<std::string> files;
  add_mapped_files(::getpid(), files);
  for (const auto& other : others) add_mapped_files(other->pid(), files);
  return files.size();
}

// Row 1.20 of doc/specification.md. The first node only connects, so nobody has a place in a file of its own.
BOOST_AUTO_TEST_CASE(nodes_that_are_all_linked_have_a_file_each) {
  BOOST_TEST(files_of_six_nodes(64) == 5U);
  BOOST_TEST(files_of_six_nodes(1) == 15U);  // one for each link
}

}  // namespace
}  // namespace quintet::test
