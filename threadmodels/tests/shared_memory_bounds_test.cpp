// SPDX-License-Identifier: BSL-1.0
// shared_memory_bounds_test: whatever clients over shared memory do with closed connections, the server's descriptors
// and the memory that it has touched stay below a bound that follows from its options, and other clients are served.
// ctest: NOT_UNDER thread
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "forked.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#include "waiting.hpp"

#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/shared_memory_client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t max_connections = 8, ring_size = 16 * 1024;
constexpr int attempts = 300;
/// Open connections, and closed ones whose client has not left.
constexpr std::size_t most_segments = max_connections + shm::closed_segments::most_of_process;

/// What a client does once its connection has ended. It never unmaps the memory.
enum class habit {
  keeps_all,         ///< the socket, too
  keeps_the_memory,  ///< closes the socket
  shuts_down,        ///< shuts the socket down in both directions, and keeps it
  reads_no_offer,    ///< leaves the server's descriptor in its socket
};
std::ostream& operator<<(std::ostream& out, habit h) { return out << static_cast<int>(h); }

struct findings {
  std::atomic<int> offers{0}, refusals{0};
  std::atomic<std::size_t> bytes{0};  // of all files in memory that the client has
  std::atomic<bool> finished{false}, may_end{false};
};

/// A client that keeps what it was given. In a process of its own.
class hoarder {
 public:
  hoarder(habit h, const std::string& at) : habit_(h), to_(at + ".shm") {}
  void run(findings& found) {
    for (int i = 0; i < attempts; ++i) ++(connect() ? found.offers : found.refusals);
    std::size_t blocks = 0;
    for (const file_descriptor& f : files_) {
      struct stat about{};
      if (::fstat(f.get(), &about) == 0) blocks += static_cast<std::size_t>(about.st_blocks);
    }
    found.bytes = blocks * 512;
    found.finished = true;
    (void)eventually([&] { return found.may_end.load(); });
  }

 private:
  bool connect() {
    file_descriptor s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!eventually([&] { return ::connect(s.get(), to_.data(), to_.size()) == 0; })) return false;
    if (habit_ == habit::reads_no_offer) {
      char first = 0;
      const bool offered = ::recv(s.get(), &first, 1, MSG_PEEK) == 1;
      (void)::shutdown(s.get(), SHUT_RDWR);
      if (offered) sockets_.push_back(std::move(s));
      return offered;
    }
    shm::segment memory;
    if (!take_offer(s.get())) return false;
    end_connection(s.get());
    if (habit_ == habit::shuts_down) (void)::shutdown(s.get(), SHUT_RDWR);
    if (habit_ == habit::keeps_the_memory) s.reset();
    sockets_.push_back(std::move(s));
    return true;
  }
  // Keeps the file and a mapping. Its requests fill both rings.
  bool take_offer(int s) {
    shm::segment_offer all;
    iovec what{.iov_base = &all, .iov_len = sizeof all};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> beside{};
    msghdr m{};
    m.msg_iov = &what;
    m.msg_iovlen = 1;
    m.msg_control = beside.data();
    m.msg_controllen = beside.size();
    if (::recvmsg(s, &m, 0) != sizeof all || !CMSG_FIRSTHDR(&m)) return false;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    file_descriptor file(fd);
    shm::segment memory;
    if (shm::segment::attach(file, all.ring_size, all.offset, memory)) return false;
    endpoints_.emplace_back(std::move(memory));
    files_.push_back(std::move(file));
    return true;
  }
  // The server echoes as much as fits, then gets the end.
  void end_connection(int s) {
    shm::endpoint& e = endpoints_.back();
    for (std::size_t received = 0, sent = 0; received < 2 * ring_size;) {
      const std::size_t count = std::min(e.out.room(1), 2 * ring_size - sent);
      const std::string text(count, 'x');
      sent += e.out.copy_in(0, text);
      if (e.out.commit(count)) shm::wake_peer(s);
      const std::size_t ready = e.in.available();
      received += ready;
      if (e.in.release(ready)) shm::wake_peer(s);
      ::usleep(10);
    }
    if (e.out.finish(shm::stream_end::finished)) shm::wake_peer(s);
    while (e.in.producer_end() == shm::stream_end::none) ::usleep(10);
  }

  const habit habit_;
  const address to_;
  std::vector<file_descriptor> sockets_, files_;
  std::vector<shm::endpoint> endpoints_;
};

struct echo {
  void operator()(connection& c, bytes in) const { c.write(in); }
};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

void serves(const std::string& at) {
  shared_memory_client honest(at);
  honest.send("alive");
  BOOST_TEST(honest.wait());
  BOOST_TEST(honest.peek() == "alive");
}

BOOST_DATA_TEST_CASE(what_clients_do_with_closed_connections_stays_below_a_bound,
                     data::make({habit::keeps_all, habit::keeps_the_memory, habit::shuts_down, habit::reads_no_offer}) *
                         data::make({1U, 4U}),
                     h, connections_per_file) {
  const std::string at = fresh_unix_address();
  const shared_object<findings> found;
  forked client([&] {
    hoarder(h, at).run(*found);
    return 0;
  });
  running<server> srv(
      config{.listen = {{at,
                         {.upgrade = connection_upgrade::shared_memory,
                          .shared_memory = {.ring_size = ring_size, .connections_per_file = connections_per_file}}}},
             .accepting = {.max_connections = max_connections}},
      echo());
  BOOST_REQUIRE(eventually([&] { return found->finished.load(); }));
  BOOST_TEST(eventually([&] {
    const auto n = srv->statistics();
    return n.opened == n.closed;
  }));
  const bool leaves = h == habit::keeps_the_memory || h == habit::shuts_down;
  BOOST_TEST(found->offers + found->refusals == attempts);
  if (leaves)
    BOOST_TEST(found->refusals == 0);
  else
    BOOST_TEST(found->offers <= static_cast<int>(most_segments));
  const std::size_t sockets_and_files = 2 * most_segments, base = 64;
  BOOST_TEST(open_descriptors() <= sockets_and_files + base);
  if (connections_per_file == 1) {
    const std::size_t most = (leaves ? max_connections : most_segments) * shm::segment_size(ring_size);
    BOOST_TEST(found->bytes <= most);
  }
  serves(at);
  found->may_end = true;
  BOOST_TEST(eventually([&] { return client.ended().has_value(); }));
  for (int i = 0; i < 4; ++i) serves(at);  // each lets the server look
  BOOST_TEST(open_descriptors() <= base);
}

}  // namespace
}  // namespace quintet::test
