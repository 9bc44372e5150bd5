// SPDX-License-Identifier: BSL-1.0
// proxy_relay_test: in each model, the proxy is transparent to a client and its upstream.
// ctest: TIMEOUT 300 EACH_ENGINE
#include "model_names.hpp"
#include "peers.hpp"
#include "program.hpp"

#include <quintet/base/build/sanitizers.hpp>
#include <quintet/threadmodels/model.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace example::test {
namespace {

namespace bdata = boost::unit_test::data;

constexpr std::size_t kib = 1024, mib = 1024 * kib;

/// Bytes in each direction. For a long run: QUINTET_RELAY_MIB=1024 build/release/examples/examples_proxy_relay_test
std::size_t volume() {
  const char* const asked = std::getenv("QUINTET_RELAY_MIB");
  return (asked ? std::stoul(asked) : quintet::sanitized ? 16 : 64) * mib;
}

/// KiB: two windows, the buffer caches of each loop, and with io_uring the receive buffers of the kernel.
std::size_t most_memory() {
  const char* const engine = std::getenv("QUINTET_ENGINE");
  return (engine && std::string_view(engine) == "uring" ? 32 : 8) * kib;
}

/// Generates pseudo-random bytes: equal for equal seeds, in pieces of any size.
class noise {
 public:
  explicit noise(unsigned seed) : random_(seed) {}
  std::string next(std::size_t count) {
    std::string s(count, '\0');
    for (char& c : s) c = next_byte();
    return s;
  }

 private:
  char next_byte() {
    if (have_ == 0) word_ = random_(), have_ = 8;
    return static_cast<char>(word_ >> (8U * --have_));
  }
  std::mt19937_64 random_;
  std::uint64_t word_ = 0;
  unsigned have_ = 0;
};

std::vector<std::string> relaying(quintet::model m, const listening& to, std::vector<std::string> more = {}) {
  more.insert(more.begin(),
              {"--model", std::string(to_string(m)), "--upstream", "127.0.0.1:" + std::to_string(to.port())});
  return more;
}

/// Both ends of one relay.
struct pair {
  peer client, upstream;
  pair(const program& proxy, listening& behind) : client(peer::connected_to(proxy.port())), upstream(behind.accept()) {}
};

/// One direction of a relay. The reader waits until the writer finds all buffers between them full.
struct slow_direction {
  std::atomic<bool> full{false};
  bool same = true;

  void set_full(bool is_full) {
    full = is_full;
    full.notify_all();
  }
  void write(peer& to, unsigned seed, std::size_t count) {
    noise all(seed);
    for (std::size_t n = 0; n < count; n += 64 * kib) {
      set_full(false);
      same &= to.send(all.next(64 * kib), [this] { set_full(true); });
    }
    to.finish_sending();
    set_full(true);  // the reader reads the rest
  }
  [[nodiscard]] bool read(peer& from, unsigned seed, std::size_t count) {
    noise expected(seed);
    for (std::size_t left = count; left > 0;) {
      full.wait(false);
      const std::string some = from.receive(std::min(64 * kib, left));
      if (some.empty() || some != expected.next(some.size())) return false;
      left -= some.size();
    }
    return from.receive_some(1).empty();
  }
};

BOOST_DATA_TEST_CASE(much_through_slow_readers_takes_little_memory, bdata::make(quintet::all_models), m) {
  listening behind;
  const program proxy("proxy", relaying(m, behind));
  pair ends(proxy, behind);
  ends.client.send("!");
  BOOST_TEST(ends.upstream.receive(1) == "!");
  const std::size_t before = proxy.peak_kib();

  slow_direction up, down;
  const std::size_t count = volume();
  auto writing_up = std::async(std::launch::async, [&] { up.write(ends.client, 1, count); });
  auto writing_down = std::async(std::launch::async, [&] { down.write(ends.upstream, 2, count); });
  auto reading_up = std::async(std::launch::async, [&] { return up.read(ends.upstream, 1, count); });
  const bool down_is_same = down.read(ends.client, 2, count), up_is_same = reading_up.get();
  writing_up.get(), writing_down.get();
  BOOST_TEST((down_is_same && up_is_same && up.same && down.same));

  const std::size_t grown = proxy.peak_kib() - before;
  BOOST_TEST_MESSAGE(m << ": " << count / mib << " MiB each way, memory grew by " << grown << " KiB");
  if constexpr (!quintet::sanitized) BOOST_TEST(grown < most_memory());
}

BOOST_DATA_TEST_CASE(each_direction_ends_by_itself, bdata::make(quintet::all_models) * bdata::make({false, true}), m,
                     upstream_first) {
  listening behind;
  const program proxy("proxy", relaying(m, behind));
  pair ends(proxy, behind);
  peer& first = upstream_first ? ends.upstream : ends.client;
  peer& second = upstream_first ? ends.client : ends.upstream;
  first.send("question");
  first.finish_sending();
  BOOST_TEST(second.receive_rest() == "question");  // and end of stream
  const std::string answer = noise(3).next(3 * mib);
  auto answering = std::async(std::launch::async, [&] {
    second.send(answer);
    second.finish_sending();
  });
  BOOST_TEST((first.receive_rest() == answer));
}

// The client reads nothing before it has written everything, and the upstream does both at once. This works without a
// proxy, too. Not in thread_per_connection, where a thread that waits in send() does not receive.
BOOST_DATA_TEST_CASE(one_direction_does_not_wait_for_the_other,
                     bdata::make({quintet::model::single_reactor, quintet::model::reactor_pool,
                                  quintet::model::loop_per_thread, quintet::model::loop_per_thread_pool}),
                     m) {
  listening behind;
  const program proxy("proxy", relaying(m, behind));
  pair ends(proxy, behind);
  const std::string question = noise(4).next(24 * mib), answer = noise(5).next(24 * mib);
  auto answering = std::async(std::launch::async, [&] {
    ends.upstream.send(answer);
    ends.upstream.finish_sending();
  });
  auto listening_to_it = std::async(std::launch::async, [&] { return ends.upstream.receive_rest() == question; });
  BOOST_TEST(ends.client.send(question));
  ends.client.finish_sending();
  BOOST_TEST(listening_to_it.get());
  BOOST_TEST((ends.client.receive_rest() == answer));
}

BOOST_DATA_TEST_CASE(upstreams_take_turns_and_one_that_is_gone_is_passed_over, bdata::make(quintet::all_models), m) {
  listening first, second, third;
  const program proxy("proxy", relaying(m, first,
                                        {"-x", "127.0.0.1:" + std::to_string(second.port()), "-x",
                                         "127.0.0.1:" + std::to_string(third.port())}));
  second.close();
  const auto serve = [&](listening& at) {
    pair ends(proxy, at);
    ends.upstream.send("here");
    BOOST_TEST(ends.client.receive(4) == "here");
  };
  serve(first);
  serve(third);  // in place of the second, which is closed
  serve(third);
  serve(first);
  first.close();
  third.close();
  BOOST_TEST(peer::connected_to(proxy.port()).receive_rest().empty());
}

BOOST_DATA_TEST_CASE(connections_made_in_advance_are_used_once, bdata::make(quintet::all_models), m) {
  listening behind;
  const program proxy("proxy", relaying(m, behind, {"--pool", "2", "--loops", "1"}));
  pair first(proxy, behind);
  // What the kernel has connected, the proxy's loop knows once later bytes have passed it.
  const auto proxy_knows = [&first] {
    first.client.send("?");
    BOOST_TEST(first.upstream.receive(1) == "?");
  };
  peer warm = behind.accept(), other = behind.accept();
  proxy_knows();
  for (peer* next : {&warm, &other}) {
    peer client = peer::connected_to(proxy.port());
    client.send("hello");
    BOOST_TEST(next->receive(5) == "hello");
    client.finish_sending();
    BOOST_TEST(next->receive_rest().empty());
  }
  peer gone = behind.accept(), kept = behind.accept();  // two new ones in their place
  proxy_knows();
  {
    const peer closes = std::move(gone);
  }
  peer client = peer::connected_to(proxy.port());
  client.send("hello");
  BOOST_TEST(kept.receive(5) == "hello");
}

BOOST_DATA_TEST_CASE(what_is_no_header_is_closed_and_no_upstream_is_bothered, bdata::make(quintet::all_models), m) {
  listening behind;
  const program proxy("proxy", relaying(m, behind, {"--accept-proxy", "--header-timeout-ms", "200"}));
  const auto is_closed = [&](std::string_view sends) {
    peer client = peer::connected_to(proxy.port());
    client.send(sends);
    return client.receive_rest().empty();
  };
  BOOST_TEST(is_closed("GET / HTTP/1.0\r\n\r\n"));
  BOOST_TEST(is_closed("PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n"));
  BOOST_TEST(is_closed(std::string("PROXY TCP4 ") + std::string(100, '1')));
  BOOST_TEST(is_closed(""));                // nothing is sent
  BOOST_TEST(is_closed("PROXY TCP4 1.2"));  // the rest is never sent
  peer good = peer::connected_to(proxy.port());
  good.send("PROXY UNKNOWN\r\nhello");
  BOOST_TEST(behind.accept().receive(5) == "hello");  // the first bytes that reach the upstream
}

/// A temporary file; the destructor removes it.
struct log_of_proxy {
  std::string path = (std::filesystem::temp_directory_path() / "quintet-proxy-XXXXXX").string();
  log_of_proxy() {
    if (const int fd = ::mkstemp(path.data()); fd >= 0) ::close(fd);
  }
  ~log_of_proxy() { std::filesystem::remove(path); }
  [[nodiscard]] std::size_t lines_with(std::string_view words) const {
    std::ifstream in(path);
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) count += line.find(words) != std::string::npos ? 1U : 0U;
    return count;
  }
};

// The send timeout ends a relay if one of its peers never reads, even without an idle timeout. The other peer is closed
// too, and the log names the limit.
BOOST_DATA_TEST_CASE(a_peer_that_never_reads_is_closed_by_the_send_timeout,
                     bdata::make(quintet::all_models) * bdata::make({false, true}), m, upstream_reads) {
  const log_of_proxy log;
  listening behind;
  program proxy("proxy", relaying(m, behind, {"--send-timeout-s", "1", "--idle-timeout-s", "0", "--log", log.path}));
  {
    pair ends(proxy, behind);
    peer& writer = upstream_reads ? ends.upstream : ends.client;
    peer& never_reads = upstream_reads ? ends.client : ends.upstream;
    const std::string piece = noise(6).next(64 * kib);
    while (writer.send(piece)) {  // the buffers between fill up; then the relay ends
    }
    (void)never_reads.receive_rest();  // returns at the end of the stream
  }
  proxy.signal(SIGTERM);
  BOOST_TEST(proxy.wait() == 0);
  BOOST_TEST(log.lines_with("the peer took no output for send_timeout") == 1U);
}

BOOST_DATA_TEST_CASE(a_signal_lets_relays_end, bdata::make(quintet::all_models), m) {
  listening behind;
  program proxy("proxy", relaying(m, behind));
  pair ends(proxy, behind);
  ends.client.send("question");
  BOOST_TEST(ends.upstream.receive(8) == "question");
  proxy.signal(SIGTERM);
  // New clients are refused, and open ones still get their answer.
  for (bool refused = false; !refused;) try {
      peer late = peer::connected_to(proxy.port());
    } catch (const std::runtime_error&) {
      refused = true;
    }
  behind.close();  // and the connections of clients accepted meanwhile
  ends.upstream.send("answer");
  ends.upstream.finish_sending();
  BOOST_TEST(ends.client.receive_rest() == "answer");
  ends.client.finish_sending();
  BOOST_TEST(proxy.wait() == 0);
}

}  // namespace
}  // namespace example::test
