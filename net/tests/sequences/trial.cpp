// SPDX-License-Identifier: BSL-1.0
// trial: the child process, and the report of what it found.
#include "trial.hpp"

#include "sequences/shrink.hpp"
#include "world.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace quintet::testing {
namespace {

constexpr unsigned patience = 60;  // seconds of one sequence; it takes some milliseconds

/// What the child leaves behind, however it ends.
struct shared_note {
  std::uint64_t seed = 0;
  char what[512] = {};  // NOLINT(modernize-avoid-c-arrays): shared between two processes
};

class note_memory {
 public:
  note_memory()
      : note_(::mmap(nullptr, sizeof(shared_note), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    new (note_) shared_note();
  }
  note_memory(const note_memory&) = delete;
  note_memory& operator=(const note_memory&) = delete;
  ~note_memory() { ::munmap(note_, sizeof(shared_note)); }
  shared_note& get() const { return *static_cast<shared_note*>(note_); }

 private:
  void* note_;
};

std::string run(const setting& s, const std::vector<step>& steps) {
  auto world = std::make_unique<sequence_world>(s);
  std::string wrong = world->run(steps);
  if (!wrong.empty()) (void)world.release();  // it may be in no state to be destroyed, and the child ends
  return wrong;
}

void copy_to(shared_note& note, const std::string& what) { note.what[what.copy(note.what, sizeof note.what - 1)] = 0; }

/// Without what differs from one sequence to the next.
std::string kind_of(const std::string& what) {
  const std::size_t begin = what.find("): ");
  return what.substr(begin == std::string::npos ? 0 : begin,
                     what.find(" (at ") - (begin == std::string::npos ? 0 : begin));
}

/// The note of a child that runs f(note), or what has ended it.
template <class F>
failure in_child(bool quiet, F f) {
  const note_memory memory;
  shared_note& note = memory.get();
  const pid_t child = ::fork();
  if (child == 0) {
    if (quiet)  // a sanitizer's report is wanted once, not for each attempt at a shorter sequence
      if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
    for (const int fatal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) (void)std::signal(fatal, SIG_DFL);
    try {
      f(note);
    } catch (const std::exception& e) {
      copy_to(note, std::string("an exception: ") + e.what());
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  failure found{.seed = note.seed, .what = note.what};
  if (WIFSIGNALED(status))
    found.what =
        WTERMSIG(status) == SIGALRM ? "it does not end" : std::string("it ends by ") + strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    found.what = "it ends with exit status " + std::to_string(WEXITSTATUS(status));
  return found;
}

}  // namespace

std::vector<failure> try_seeds(unsigned model, std::uint64_t first, std::uint64_t count, std::size_t length,
                               std::size_t most) {
  std::vector<failure> all;
  const std::uint64_t end = first + count;
  while (first < end && all.size() < most) {
    failure found = in_child(false, [&](shared_note& note) {
      for (note.seed = first; note.seed < end; ++note.seed) {
        ::alarm(patience);
        const setting s = make_setting(note.seed, model);
        copy_to(note, run(s, make_steps(s, length)));
        if (note.what[0] != 0) return;
      }
    });
    if (found.what.empty()) break;
    first = found.seed + 1;
    const auto is_alike = [&](const failure& f) { return kind_of(f.what) == kind_of(found.what); };
    if (std::ranges::none_of(all, is_alike)) all.push_back(found);
  }
  return all;
}

std::string try_steps(const setting& s, const std::vector<step>& steps) {
  return in_child(true,
                  [&](shared_note& note) {
                    ::alarm(patience);
                    copy_to(note, run(s, steps));
                  })
      .what;
}

std::string describe(const failure& f, unsigned model, std::size_t length) {
  const setting s = make_setting(f.seed, model);
  const std::vector<step> shortest = shrink(make_steps(s, length), [&](const std::vector<step>& steps) {
    return kind_of(try_steps(s, steps)) == kind_of(f.what);
  });
  std::string text = "seed " + std::to_string(f.seed) + " of model " + std::to_string(model) + " fails: " + f.what +
                     "\nreplay it: net_sequences_test -- --seed " + std::to_string(f.seed) + " --model " +
                     std::to_string(model) + "\nlimits: " + to_string(s.limits) + ", window " +
                     std::to_string(s.window) + "\nthe shortest sequence that fails, by: " + try_steps(s, shortest);
  for (const step& one : shortest) text += "\n  " + to_string(one);
  return text;
}

}  // namespace quintet::testing
