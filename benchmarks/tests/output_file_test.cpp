// SPDX-License-Identifier: BSL-1.0
// output_file_test: where results go, and where they cannot go.
#include "output_file.hpp"
#include "options.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;

struct scratch {
  scratch() { fs::create_directories(folder); }
  ~scratch() { fs::remove_all(folder); }
  fs::path folder = fs::temp_directory_path() / ("output_file_test." + std::to_string(::getpid()));
  std::string operator/(const char* name) const { return (folder / name).string(); }
};

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

BOOST_FIXTURE_TEST_SUITE(output_file, scratch)

BOOST_AUTO_TEST_CASE(a_check_writes_nothing) {
  const auto path = parse_output(*this / "results.json");
  BOOST_TEST(!fs::exists(path));  // an old result must survive a run that fails
  write_output(path, "{}");
  BOOST_TEST(content(path) == "{}");
}

BOOST_AUTO_TEST_CASE(a_missing_directory_is_refused_and_not_made) {
  BOOST_CHECK_EXCEPTION(parse_output(*this / "a/b/results.json"), usage_error, [](const usage_error& e) {
    return std::string(e.what()).find("is not a directory; make it first") != std::string::npos;
  });
  BOOST_TEST(!fs::exists(*this / "a"));
}

BOOST_AUTO_TEST_CASE(an_old_file_is_replaced_as_a_whole) {
  const auto path = parse_output(*this / "results.json");
  write_output(path, "a long text");
  write_output(path, "short");
  BOOST_TEST(content(path) == "short");
  BOOST_TEST(std::distance(fs::directory_iterator(folder), {}) == 1);  // and nothing is left beside it
}

BOOST_AUTO_TEST_CASE(devices_are_written_in_place) {
  write_output(parse_output("/dev/null"), "gone");
  BOOST_TEST(!fs::is_regular_file("/dev/null"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written_is_refused_before_it_is_needed) {
  std::ofstream(*this / "file") << "x";
  for (const auto& wrong : {std::string(), folder.string(), *this / "file/below", std::string("/proc/nothing/r.json")})
    BOOST_CHECK_THROW(parse_output(wrong), usage_error);
  BOOST_TEST(parse_output("-") == "-");
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_named) {
  BOOST_CHECK_EXCEPTION(write_output("/proc/nothing/report.html", "x"), std::runtime_error,
                        [](const std::exception& e) {
                          return std::string(e.what()).find("/proc/nothing/report.html") != std::string::npos;
                        });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace quintet::bench
