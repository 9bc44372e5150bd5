// SPDX-License-Identifier: BSL-1.0
// scratch_file.hpp: a temporary file that a child process writes and this process reads.
#pragma once

#include <fmt/format.h>
#include <unistd.h>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "compare/child_process.hpp"

namespace quintet::bench {

// The name depends on process and kind only: use one object of a kind at a time.
class scratch_file {
 public:
  explicit scratch_file(std::string_view kind)
      : path_(std::filesystem::temp_directory_path() / fmt::format("quintet-bench-{}.{}", ::getpid(), kind)) {}
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  std::string path() const { return path_.string(); }
  // Returns the JSON object that the process `whose` wrote; it must have ended. Throws run_error.
  boost::json::object figures(std::string_view whose) const {
    boost::system::error_code failed;
    auto all = boost::json::parse(text(), failed);
    if (failed || !all.is_object()) throw run_error(fmt::format("{} wrote no results", whose));
    return std::move(all.as_object());
  }
  // Returns the file's text, or "" if nothing was written.
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace quintet::bench
