// SPDX-License-Identifier: BSL-1.0
// replay: runs a target over the files of its corpus, without libFuzzer, as a regression test.
#include "fuzz.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace {

/// Returns the file's bytes in an allocation of exactly their size, so that a sanitizer sees a read beyond the end.
std::vector<std::uint8_t> content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::uint8_t> content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  content.shrink_to_fit();
  return content;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.is_regular_file()) files.insert(entry.path());
  for (const auto& file : files) {
    std::printf("%s\n", file.filename().c_str());  // after an abort, the last name is the failing input
    std::fflush(stdout);
    const std::vector<std::uint8_t> content = content_of(file);
    LLVMFuzzerTestOneInput(content.data(), content.size());
  }
  if (files.empty()) std::fprintf(stderr, "%s: there is no input in %s\n", argv[0], argv[1]);
  return files.empty() ? 1 : 0;
}
