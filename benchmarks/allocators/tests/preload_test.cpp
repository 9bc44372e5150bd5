// SPDX-License-Identifier: BSL-1.0
// preload_test.cpp: which allocator a process has, by its memory map; those that this machine has, and made-up ones.
#include "allocators/preload.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>

#include "compare/child_process.hpp"
#include "options.hpp"

using namespace quintet::bench;

namespace {

using names = std::vector<std::string_view>;

constexpr auto* map_of_a_server =
    "55d0c8a00000-55d0c8a40000 r--p 00000000 fe:00 1187 /opt/a dir/jemalloc/kv\n"
    "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
    "7f1111000000-7f1111010000 r-xp 00000000 fe:00 1201 /usr/lib/libtcmalloc_minimal.so.4.5.10\n"
    "7f1111010000-7f1111020000 rw-p 00010000 fe:00 1201 /usr/lib/libtcmalloc_minimal.so.4.5.10\n"
    "7f2222000000-7f2222010000 r-xp 00000000 fe:00 1202 /usr/lib/libc.so.6\n"
    "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0 [stack]";

// Runs until it is stopped.
std::vector<std::string> waiting(const std::string& library) {
  auto command = preloading(library);
  command.insert(command.end(), {find_program("sleep").value(), "60"});
  return command;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(preloaded_allocators)

BOOST_AUTO_TEST_CASE(an_allocator_is_told_by_the_name_of_its_file_alone) {
  BOOST_TEST(allocators_in(map_of_a_server) == names{"tcmalloc"}, boost::test_tools::per_element());
  BOOST_TEST(allocators_in("").empty());
  BOOST_TEST(allocators_in("1-2 r-xp 0 0:0 1 /usr/lib/libjemalloc.so.2\n1-2 r-xp 0 0:0 1 /x/libmimalloc.so.2.0\n") ==
                 (names{"jemalloc", "mimalloc"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(glibc_needs_no_library) {
  BOOST_TEST(all_allocators().front().name == own_allocator);
  BOOST_TEST(find_library(find_allocator("glibc")).value().empty());
  BOOST_CHECK_THROW(find_allocator("hoard"), usage_error);
  BOOST_TEST(find_allocator("jemalloc").absence() ==
             "jemalloc: libjemalloc.so.2 is not installed; apt-get install libjemalloc2");
}

BOOST_AUTO_TEST_CASE(what_the_linker_does_not_know_is_not_found) {
  constexpr std::array<std::string_view, 1> unknown{"libquintet_knows_no_such_allocator.so.1"};
  BOOST_TEST(!find_library({"none", "libquintet_knows", unknown, ""}).has_value());
}

BOOST_AUTO_TEST_CASE(a_process_has_what_was_preloaded_and_nothing_else_is_believed) {
  for (const allocator_kind& k : all_allocators()) {
    const auto library = find_library(k);
    if (!library) continue;
    child_process server("sleep", waiting(*library));
    // It is another program until the last exec: wait for that, and for the linker that it begins with.
    const auto deadline = child_process::clock::now() + std::chrono::seconds(10);
    const auto is_ready = [&] {
      try {
        return require_allocator(k.name, server.pid()), true;
      } catch (const run_error&) {
        return false;
      }
    };
    while (!is_ready() && child_process::clock::now() < deadline) {
    }
    BOOST_TEST(is_ready(), k.name);
    for (const allocator_kind& other : all_allocators()) {
      if (&other != &k) BOOST_CHECK_THROW(require_allocator(other.name, server.pid()), run_error);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_a_process_that_is_gone_nothing_is_known) {
  child_process gone("true", {find_program("true").value()});
  gone.wait(child_process::clock::now() + std::chrono::seconds(10));
  BOOST_CHECK_THROW(require_allocator("glibc", gone.pid()), run_error);
}

BOOST_AUTO_TEST_SUITE_END()
