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
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>

namespace quintet::testing {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// Seconds after which a sequence counts as one that does not end. It takes milliseconds, and more on a busy machine.
// While a sequence is shrunk, a wrong guess costs little, and many attempts may hang.
constexpr unsigned patience = 45, patience_while_shrinking = 2;

// All failures of a process together are shrunk within this time, so that ctest's limit is not reached before the
// report.
constexpr clock::duration longest_shrinking = 20s, longest_shrinking_of_all = 60s;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), std::string("a trial needs a child process: ") + what);
}

/// What the child leaves behind, however it ends.
struct shared_note {
  std::uint64_t seed = 0;
  char what[512] = {};  // NOLINT(modernize-avoid-c-arrays): shared between two processes
};

class note_memory {
 public:
  note_memory()
      : note_(::mmap(nullptr, sizeof(shared_note), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (note_ == MAP_FAILED) throw_errno("mmap");
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

const std::string hangs = "it does not end";

/// Without what differs from one sequence to the next.
std::string kind_of(const std::string& what) {
  const std::size_t begin = what.find("): ");
  return what.substr(begin == std::string::npos ? 0 : begin,
                     what.find(" (at ") - (begin == std::string::npos ? 0 : begin));
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) != child)
    if (errno != EINTR) throw_errno("waitpid");
  return status;
}

/// The note of a child that runs f(note), or what has ended it.
template <class F>
failure in_child(bool quiet, F f) {
  const note_memory memory;
  shared_note& note = memory.get();
  const pid_t child = ::fork();
  if (child < 0) throw_errno("fork");
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
  const int status = wait_for(child);
  failure found{.seed = note.seed, .what = note.what};
  if (WIFSIGNALED(status))
    found.what = WTERMSIG(status) == SIGALRM ? hangs : std::string("it ends by ") + strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    found.what = "it ends with exit status " + std::to_string(WEXITSTATUS(status));
  return found;
}

std::string replay_of(const failure& f, unsigned model) {
  return "net_sequences_test -- --seed " + std::to_string(f.seed) + " --model " + std::to_string(model);
}

// Before anything else is tried: whatever ends this process afterwards, the seed is known.
void announce(const failure& f, unsigned model) {
  (void)std::fprintf(stderr, "a sequence fails: %s\nreplay it: %s\n", f.what.c_str(), replay_of(f, model).c_str());
  (void)std::fflush(stderr);
}

/// Until the time for shrinking is over, which `is_over` then says.
std::vector<step> shrink_in_time(const failure& f, const setting& s, std::size_t length, bool& is_over) {
  static clock::duration left = longest_shrinking_of_all;
  const auto begun = clock::now();
  const auto until = begun + std::min(left, longest_shrinking);
  std::vector<step> shortest = shrink(make_steps(s, length), [&](const std::vector<step>& steps) {
    is_over = is_over || clock::now() >= until;
    return !is_over && kind_of(try_steps(s, steps)) == kind_of(f.what);
  });
  left -= std::min(left, clock::now() - begun);
  return shortest;
}

}  // namespace

std::vector<failure> try_seeds(const search& wanted) {
  std::vector<failure> all;
  const std::uint64_t end = wanted.first + wanted.count;
  for (std::uint64_t first = wanted.first; first < end && all.size() < wanted.most;) {
    const failure found = in_child(false, [&](shared_note& note) {
      for (note.seed = first; note.seed < end; ++note.seed) {
        ::alarm(patience);
        const setting s = make_setting(note.seed, wanted.model);
        copy_to(note, run(s, make_steps(s, wanted.length)));
        if (note.what[0] != 0) return;
      }
    });
    if (found.what.empty()) break;
    first = found.seed + 1;
    const auto is_alike = [&](const failure& f) { return kind_of(f.what) == kind_of(found.what); };
    if (std::ranges::any_of(all, is_alike)) continue;
    all.push_back(found);
    if (wanted.announces) announce(found, wanted.model);
    if (found.what == hangs) break;  // each one more of these would cost as much time
  }
  return all;
}

std::string try_steps(const setting& s, const std::vector<step>& steps) {
  return in_child(true,
                  [&](shared_note& note) {
                    ::alarm(patience_while_shrinking);
                    copy_to(note, run(s, steps));
                  })
      .what;
}

std::string describe(const failure& f, unsigned model, std::size_t length) {
  const setting s = make_setting(f.seed, model);
  bool is_over = false;
  const std::vector<step> shortest = shrink_in_time(f, s, length, is_over);
  std::string text = "seed " + std::to_string(f.seed) + " of model " + std::to_string(model) + " fails: " + f.what +
                     "\nreplay it: " + replay_of(f, model) + "\nlimits: " + to_string(s.limits) + ", window " +
                     std::to_string(s.window);
  text += is_over ? "\na shorter sequence that fails (the time to find the shortest was over), by: "
                  : "\nthe shortest sequence that fails, by: ";
  text += try_steps(s, shortest);
  for (const step& one : shortest) text += "\n  " + to_string(one);
  return text;
}

}  // namespace quintet::testing
