// SPDX-License-Identifier: BSL-1.0
// bus_top_segments_test: bus_top shows the places that are in use, and believes nothing that a node says.
#include "bus_top/bus_report.hpp"
#include "bus_top/segments.hpp"

#include <quintet/net/engine/shm/endpoint.hpp>
#include <quintet/net/engine/shm/segment_pool.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include <sys/mman.h>
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

file_descriptor unsealed_file() { return file_descriptor(::memfd_create("quintet", MFD_CLOEXEC)); }

BOOST_AUTO_TEST_CASE(a_file_that_its_process_shortens_meanwhile_does_no_harm) {
  const file_descriptor file = unsealed_file();
  const auto full = static_cast<off_t>(64 * shm::place_size(ring_size));
  std::jthread process([&](const std::stop_token& ends) {
    while (!ends.stop_requested())
      for (const off_t size : {full, off_t{0}}) BOOST_TEST_REQUIRE(::ftruncate(file.get(), size) == 0);
  });
  for (int i = 0; i < 2000; ++i) BOOST_TEST_REQUIRE(bus_top::files_of(::getpid(), ring_size).size() <= 1U);
}

BOOST_AUTO_TEST_CASE(a_file_that_no_node_makes_is_skipped) {
  const file_descriptor file = unsealed_file();
  BOOST_REQUIRE(::ftruncate(file.get(), off_t{1} << 40U) == 0);
  BOOST_TEST(bus_top::files_of(::getpid(), ring_size).empty());
}

BOOST_AUTO_TEST_CASE(a_report_with_control_sequences_is_refused) {
  const std::string usual = "process 7\nring_size 4096\nroute 2 shm\ncounter sent 5\n";
  BOOST_TEST(example::bus_report_from(usual).counters.at("sent") == 5U);
  for (const char* const wrong : {"route 2 \x1b[2J\n", "counter \x1b]0;title\x07 5\n",
                                  "counter \xc2\x9b"
                                  "2J 5\n"})
    BOOST_CHECK_THROW((void)example::bus_report_from(usual + wrong), std::runtime_error);
}

}  // namespace
