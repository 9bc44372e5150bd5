// SPDX-License-Identifier: BSL-1.0
// input_file_test: a file is read to its end; one that cannot be read is empty.
#include "input_file.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace quintet::bench {
namespace {

BOOST_AUTO_TEST_SUITE(input_file)

BOOST_AUTO_TEST_CASE(a_file_is_read_to_its_end) {
  const auto path = std::filesystem::temp_directory_path() / ("input_file_test." + std::to_string(::getpid()));
  std::string text(100'000, 'x');
  text += '\0';
  text += "\nend";
  std::ofstream(path) << text;
  BOOST_TEST((read_if_possible(path) == text));
  std::filesystem::remove(path);
  BOOST_TEST(read_if_possible(path).empty());
  BOOST_TEST(read_if_possible("/tmp").empty());
}

BOOST_AUTO_TEST_CASE(files_of_proc_have_no_size_and_are_read_all_the_same) {
  BOOST_TEST(!read_if_possible("/proc/self/stat").empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace quintet::bench
