// SPDX-License-Identifier: BSL-1.0
// bus_top_segments_test: bus_top shows the places that are in use, and believes no ring size.
#include "bus_top/segments.hpp"

#include <quintet/net/engine/shm/endpoint.hpp>
#include <quintet/net/engine/shm/segment_pool.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>

#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace quintet;

constexpr std::size_t ring_size = 4096;

std::size_t places_in_use() {
  const auto files = bus_top::files_of(::getpid(), ring_size);
  return files.size() == 1 ? files[0].used.size() : 99;
}

BOOST_AUTO_TEST_CASE(a_place_is_in_use_until_the_node_has_left_it) {
  shm::segment_pool pool(ring_size, 4);
  std::array<int, 2> sockets{};
  BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  file_descriptor here(sockets[0]);
  const file_descriptor there(sockets[1]);
  shm::segment memory;
  int file = -1;
  std::uint64_t offset = 0;
  BOOST_REQUIRE(!pool.take(memory, file, offset));
  shm::endpoint end(std::move(memory));
  BOOST_TEST(places_in_use() == 0U);
  BOOST_REQUIRE(end.out.copy_in(0, "hello") == 5U);
  (void)end.out.commit(5);
  BOOST_TEST(places_in_use() == 1U);
  if (end.close(shm::stream_end::finished, here.get())) (void)here.release();
  BOOST_TEST(places_in_use() == 0U);
}

// 2 * (2^63 - 2048) and the page of positions are 0 bytes.
BOOST_AUTO_TEST_CASE(a_number_that_is_no_ring_size_shows_nothing) {
  shm::segment_pool pool(ring_size, 1);
  shm::segment memory;
  int file = -1;
  std::uint64_t offset = 0;
  BOOST_REQUIRE(!pool.take(memory, file, offset));
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 63U) - 2048})
    BOOST_TEST(bus_top::files_of(::getpid(), wrong).empty());
}

}  // namespace
