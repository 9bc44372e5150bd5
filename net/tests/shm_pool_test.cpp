// SPDX-License-Identifier: BSL-1.0
// shm_pool_test: connections that share a file in memory: places, and when one is used again.
#include <quintet/net/engine/epoll_engine.hpp>
#include <quintet/net/engine/shm/endpoint.hpp>
#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/engine/shm/segment_pool.hpp>
#include <quintet/net/engine/shm/shm_engine.hpp>

#include "sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quintet::test {
namespace {

constexpr std::size_t ring_size = 4096;

/// A connection: this process's end, and the client's in the same process.
struct connection_over_pool : testing::socket_pair {
  explicit connection_over_pool(shm::segment_pool& from) {
    shm::segment own, mapped;
    int file = -1;
    BOOST_REQUIRE(!from.take(own, file, offset));
    const file_descriptor sent(::fcntl(file, F_DUPFD_CLOEXEC, 0));  // as if it had arrived by a socket
    BOOST_REQUIRE(!shm::segment::attach(sent, ring_size, offset, mapped));
    own.note_offer(::getpid());
    server = shm::endpoint(std::move(own));
    client = shm::endpoint(std::move(mapped));
  }
  void close_server() {
    if (server.close(shm::stream_end::finished, here.get())) (void)here.release();
    server = {};
    here.reset();
  }
  void close_client() {
    BOOST_TEST(!client.close(shm::stream_end::finished, there.get()));
    there.reset();
    client = {};
  }
  std::uint64_t offset = 0;
  shm::endpoint server, client;
};

std::string all_of(shm::ring_consumer& in) {
  std::string all(ring_size, '\0');
  all.resize(in.copy_out(all));
  (void)in.release(all.size());
  return all;
}
void send(shm::ring_producer& out, bytes data) {
  BOOST_REQUIRE(out.copy_in(0, data) == data.size());
  (void)out.commit(data.size());
}

BOOST_AUTO_TEST_CASE(connections_have_places_of_their_own_in_one_file) {
  shm::segment_pool pool(ring_size, 3);
  std::deque<connection_over_pool> all;
  std::set<std::uint64_t> offsets;
  for (int i = 0; i < 3; ++i) offsets.insert(all.emplace_back(pool).offset);
  BOOST_TEST(pool.files() == 1U);
  BOOST_TEST(offsets.size() == 3U);
  for (auto& c : all) send(c.client.out, "from " + std::to_string(c.offset)), send(c.server.out, "to");
  for (auto& c : all) {
    BOOST_TEST(all_of(c.server.in) == "from " + std::to_string(c.offset));
    BOOST_TEST(all_of(c.client.in) == "to");
  }
  all.emplace_back(pool);
  BOOST_TEST(pool.files() == 2U);
}

// A client that has not noticed the end still writes to its place.
BOOST_AUTO_TEST_CASE(a_place_is_used_again_when_both_sides_have_left_it) {
  shm::segment_pool pool(ring_size, 2);
  connection_over_pool first(pool);
  const connection_over_pool second(pool);
  first.close_server();
  connection_over_pool third(pool);
  BOOST_TEST(pool.files() == 2U);  // the client of the first may write
  send(first.client.out, "too late");
  first.close_client();
  connection_over_pool again(pool);
  BOOST_TEST(pool.files() == 2U);
  BOOST_TEST(again.offset == first.offset);
  BOOST_TEST(again.server.in.available() == 0U);
  BOOST_CHECK(again.server.in.producer_end() == shm::stream_end::none);
  BOOST_CHECK(again.client.in.producer_end() == shm::stream_end::none);
  send(again.client.out, "fresh");
  BOOST_TEST(all_of(again.server.in) == "fresh");
}

BOOST_AUTO_TEST_CASE(a_place_whose_client_left_first_is_used_again_at_once) {
  shm::segment_pool pool(ring_size, 2);
  for (int i = 0; i < 100; ++i) {
    connection_over_pool one(pool), other(pool);
    one.close_client();
    one.close_server();
    other.close_server();
    other.close_client();
  }
  BOOST_TEST(pool.files() == 1U);
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

BOOST_AUTO_TEST_CASE(a_client_that_connects_again_and_again_touches_one_place) {
  shm::segment_pool pool(ring_size, 64);
  std::set<std::uint64_t> offsets;
  const connection_over_pool first(pool);
  const std::ptrdiff_t before = open_descriptors();
  for (int i = 0; i < 64; ++i) {
    connection_over_pool c(pool);
    offsets.insert(c.offset);
    i % 2 == 0 ? c.close_server() : c.close_client();
    i % 2 == 0 ? c.close_client() : c.close_server();
  }
  BOOST_TEST(offsets.size() == 1U);
  BOOST_TEST(open_descriptors() <= before + 1);  // the last socket is kept until the pool looks again
  const connection_over_pool next(pool);
  BOOST_TEST(open_descriptors() == before + 2);
}

BOOST_AUTO_TEST_CASE(a_burst_leaves_one_file_and_no_sockets) {
  const std::ptrdiff_t before = open_descriptors();
  shm::segment_pool pool(ring_size, 4);
  {
    std::deque<connection_over_pool> all;
    for (int i = 0; i < 40; ++i) all.emplace_back(pool);
    BOOST_TEST(pool.files() == 10U);
    for (auto& c : all) c.close_server();
    BOOST_TEST(pool.files() == 10U);
    for (auto& c : all) c.close_client();
  }
  BOOST_TEST(open_descriptors() == before + 10 + 40);
  connection_over_pool next(pool);  // the pool looks
  BOOST_TEST(pool.files() == 1U);
  BOOST_TEST(open_descriptors() == before + 1 + 2);
  next.close_client();
  next.close_server();
  BOOST_TEST(pool.files() == 1U);
  BOOST_TEST(open_descriptors() == before + 1);
}

BOOST_AUTO_TEST_CASE(a_place_that_was_never_offered_is_free_again) {
  shm::segment_pool pool(ring_size, 1);
  for (int i = 0; i < 3; ++i) {
    shm::segment made;
    int file = -1;
    std::uint64_t offset = 0;
    BOOST_REQUIRE(!pool.take(made, file, offset));
  }
  BOOST_TEST(pool.files() == 1U);
}

// A descriptor is not needed to keep a place: at the limit of descriptors a pool loses none.
BOOST_AUTO_TEST_CASE(a_place_is_used_again_also_if_there_were_no_descriptors) {
  shm::segment_pool pool(ring_size, 1);
  connection_over_pool c(pool);
  rlimit usual{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = usual.rlim_max};
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  c.close_server();
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  c.close_client();
  const connection_over_pool next(pool);
  BOOST_TEST(pool.files() == 1U);
}

BOOST_AUTO_TEST_CASE(a_client_sees_the_end_although_the_servers_socket_is_kept) {
  shm::segment_pool pool(ring_size, 2);
  connection_over_pool one(pool);
  one.close_server();
  BOOST_TEST(shm::take_wakes(one.there.get()));
  BOOST_CHECK(one.client.in.producer_end() == shm::stream_end::finished);
}

BOOST_AUTO_TEST_CASE(a_place_that_nobody_has_left_is_never_used_again) {
  shm::segment_pool pool(ring_size, 1);
  {
    const connection_over_pool lost(pool);
  }
  const connection_over_pool next(pool);
  BOOST_TEST(pool.files() == 2U);
}

BOOST_AUTO_TEST_CASE(the_file_outlives_its_pool_while_a_connection_uses_it) {
  std::optional<shm::segment_pool> pool(std::in_place, ring_size, 2);
  connection_over_pool one(*pool);
  pool.reset();
  send(one.client.out, "still here");
  BOOST_TEST(all_of(one.server.in) == "still here");
  one.close_server();
}

BOOST_AUTO_TEST_CASE(an_offset_outside_the_file_is_refused) {
  shm::segment_pool pool(ring_size, 2);
  shm::segment own, mapped;
  int file = -1;
  std::uint64_t offset = 0;
  BOOST_REQUIRE(!pool.take(own, file, offset));
  const file_descriptor sent(::fcntl(file, F_DUPFD_CLOEXEC, 0));
  struct stat found{};
  BOOST_REQUIRE(::fstat(file, &found) == 0);
  const auto size = static_cast<std::uint64_t>(found.st_size);
  for (const std::uint64_t wrong : {std::uint64_t{1}, size, size - 4096, size - shm::segment_size(ring_size) + 1,
                                    ~std::uint64_t{0}, ~std::uint64_t{0} - 4095, std::uint64_t{1} << 63U}) {
    BOOST_TEST(shm::segment::attach(sent, ring_size, wrong, mapped) == system_error_code(EPROTO));
    BOOST_TEST(!mapped);
  }
}

// The way of a server: the engine closes the socket, and so gives the place back.
BOOST_AUTO_TEST_CASE(an_engine_gives_the_place_of_a_closed_connection_back) {
  const auto files_in_memory = [] {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code failed;
      const std::string to = std::filesystem::read_symlink(entry, failed).string();
      if (to.starts_with("/memfd:quintet")) all.insert(entry.path());
    }
    return all.size();
  };
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  shm::segment_offerer offers({.ring_size = ring_size, .connections_per_file = 2});
  for (int i = 0; i < 20; ++i) {
    testing::socket_pair s;
    stream_handle here(s.here.release());
    offers.offer_to(here);
    shm::segment mapped;
    BOOST_REQUIRE(!shm::receive_offer(s.there.get(), mapped));
    io.close(std::move(here));
  }
  BOOST_TEST(files_in_memory() == 1U);
}

// ... also if the client has gone before it was offered anything.
BOOST_AUTO_TEST_CASE(an_offer_that_fails_leaves_nothing) {
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  shm::segment_offerer offers({.ring_size = ring_size, .connections_per_file = 2});
  testing::socket_pair s;
  s.there.reset();
  stream_handle here(s.here.release());
  BOOST_CHECK_THROW(offers.offer_to(here), boost::system::system_error);
  io.close(std::move(here));
}

}  // namespace
}  // namespace quintet::test
