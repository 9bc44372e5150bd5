// SPDX-License-Identifier: BSL-1.0
// profile.cpp: finds the profilers' functions at run time, and starts the program again if they are missing.
#include "serve/profile.hpp"

#include "input_file.hpp"
#include "options.hpp"
#include "output_file.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace quintet::bench {
namespace {

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

bool is_missing(const char* library) {
  return ::dlopen(library, RTLD_LAZY) == nullptr && std::strstr(::dlerror(), "No such file") != nullptr;
}

/// Replaces this process by the same program with the same arguments, and `library` before all others.
[[noreturn]] void restart_with(const char* library) {
  const char* const others = std::getenv("LD_PRELOAD");
  const bool was_tried = others != nullptr && std::strstr(others, library) != nullptr;  // and it would be so for ever
  if (was_tried || is_missing(library))
    throw usage_error(fmt::format("--profile: {} is not installed; apt-get install google-perftools", library));
  ::setenv("LD_PRELOAD", fmt::format("{}:{}", library, others != nullptr ? others : "").c_str(), 1);
  std::string words = read_if_possible("/proc/self/cmdline");  // each ends with a 0
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < words.size(); at += std::strlen(&words[at]) + 1) arguments.push_back(&words[at]);
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  throw std::system_error(errno, std::generic_category(), "--profile: cannot start the program again");
}

}  // namespace

profile_request parse_profile(std::string_view text) {
  const auto equal = text.find('=');
  const auto kind = text.substr(0, equal);
  const std::string file(equal == text.npos ? "" : text.substr(equal + 1));
  if ((kind != "cpu" && kind != "heap") || file.empty() || file == "-")
    throw usage_error(fmt::format("\"{}\" is not a profile; write cpu=FILE or heap=FILE", text));
  return {kind == "heap", parse_output(file)};
}

profiler::profiler(profile_request what) : what_(std::move(what)) {
  if (what_.file.empty()) return;
  if (what_.heap) {
    auto* const start = find<void(const char*)>("HeapProfilerStart");
    if (start == nullptr) restart_with("libtcmalloc.so.4");
    start(what_.file.c_str());
    return;
  }
  auto* const start = find<int(const char*)>("ProfilerStart");
  if (start == nullptr) restart_with("libprofiler.so.0");
  if (start(what_.file.c_str()) == 0) throw std::runtime_error(fmt::format("--profile: cannot write {}", what_.file));
}

profiler::~profiler() {
  if (what_.file.empty()) return;
  if (what_.heap) find<void(const char*)>("HeapProfilerDump")("end");
  find<void()>(what_.heap ? "HeapProfilerStop" : "ProfilerStop")();
}

}  // namespace quintet::bench
