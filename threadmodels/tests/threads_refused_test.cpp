// SPDX-License-Identifier: BSL-1.0
// threads_refused_test: the system refuses threads: of a server that starts. Sanitizers need more memory than it
// leaves.
// ctest: NOT_UNDER address|thread
#include <boost/test/unit_test.hpp>

#include <quintet/threadmodels/server.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace quintet::test {
namespace {

/// Allows no more memory than the process has now, so that the system refuses the stack of a thread.
class no_more_stacks {
 public:
  no_more_stacks() {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{.rlim_cur = (pages + 64) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)),
                     .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~no_more_stacks() { ::setrlimit(RLIMIT_AS, &before_); }
  no_more_stacks(const no_more_stacks&) = delete;
  no_more_stacks& operator=(const no_more_stacks&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

// First, because glibc gives a new thread the stack of an ended one. Which thread is refused depends on that, too.
BOOST_AUTO_TEST_CASE(the_error_names_the_thread_that_cannot_be_started) {
  for (const model m : {model::reactor_pool, model::loop_per_thread, model::loop_per_thread_pool}) {
    server refused({.listen = {"127.0.0.1:0"}, .model = m, .threads = {.loops = 8, .workers = {8, 8}}},
                   [](connection&, bytes) {});
    const no_more_stacks here;
    BOOST_CHECK_EXCEPTION(refused.start(), boost::system::system_error, [](const auto& e) {
      return std::string(e.what()).starts_with("cannot start the thread qnt-");
    });
  }
}

}  // namespace quintet::test
