// SPDX-License-Identifier: BSL-1.0
// child_process_test: real programs, how their ends reach the loop, and owners that go at awkward moments.
#include <quintet/net/child_process.hpp>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace quintet {

inline std::ostream& operator<<(std::ostream& out, const exit_status& s) {
  constexpr std::array names{"exited", "killed", "unknown"};
  return out << names.at(static_cast<std::size_t>(s.how)) << ' ' << s.value;
}

namespace {

constexpr auto exited = exit_status::kind::exited, killed = exit_status::kind::killed;
using program = std::vector<std::string>;

program shell(const std::string& commands) { return {"/bin/sh", "-c", commands}; }
const program for_ever{"sleep", "1000"};

bool no_child_is_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }
/// Waits until some child is dead, and leaves it to be collected.
void await_a_death() {
  siginfo_t info{};
  BOOST_REQUIRE(::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0);
}

struct fixture : loop_member {
  event_loop loop;
  std::optional<exit_status> seen;

  fixture() { loop.join(*this); }  // keeps the loop running until it is stopped
  void abort() noexcept override { loop.leave(*this); }
  child_process::exit_function note() {
    return [this](exit_status s) {
      BOOST_TEST(loop.in_this_thread());
      seen = s;
      loop.stop();
    };
  }
  exit_status run_to_the_end(const program& p) {
    child_process child(loop);
    BOOST_REQUIRE(!child.start(p, note()));
    BOOST_TEST(child.running());
    loop.run();
    BOOST_TEST(!child.running());
    return seen.value();
  }
};

BOOST_FIXTURE_TEST_CASE(success, fixture) {
  const exit_status s = run_to_the_end({"/bin/true"});
  BOOST_TEST(s == (exit_status{exited, 0}));
  BOOST_TEST(s.success());
  BOOST_TEST(no_child_is_left());
}

BOOST_FIXTURE_TEST_CASE(its_exit_status_is_told, fixture) {
  const exit_status s = run_to_the_end(shell("exit 7"));
  BOOST_TEST(s == (exit_status{exited, 7}));
  BOOST_TEST(!s.success());
}

BOOST_FIXTURE_TEST_CASE(a_program_is_looked_for_in_path, fixture) {
  BOOST_TEST(run_to_the_end({"false"}) == (exit_status{exited, 1}));
}

BOOST_FIXTURE_TEST_CASE(the_signal_that_killed_it_is_told, fixture) {
  child_process child(loop);
  BOOST_REQUIRE(!child.start(for_ever, note()));
  BOOST_TEST(!child.kill());
  loop.run();
  BOOST_TEST(seen.value() == (exit_status{killed, SIGTERM}));
  BOOST_TEST(!seen->success());
  BOOST_TEST((child.kill() == boost::system::errc::no_such_process));
}

BOOST_FIXTURE_TEST_CASE(blocked_and_ignored_signals_are_not_inherited, fixture) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
  child_process first(loop), second(loop);
  std::vector<exit_status> both;
  const auto add = [&](exit_status s) {
    both.push_back(s);
    if (both.size() == 2) loop.stop();
  };
  BOOST_REQUIRE(!first.start(shell("kill -TERM $$; exit 1"), add));
  BOOST_REQUIRE(!second.start(shell("kill -PIPE $$; exit 1"), add));
  loop.run();
  ::signal(SIGPIPE, pipe_before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (both[0].value != SIGTERM) std::swap(both[0], both[1]);
  BOOST_TEST(both[0] == (exit_status{killed, SIGTERM}));
  BOOST_TEST(both[1] == (exit_status{killed, SIGPIPE}));
}

BOOST_FIXTURE_TEST_CASE(what_cannot_be_started_is_told_at_once, fixture) {
  child_process child(loop);
  const auto never = [](exit_status) { BOOST_ERROR("called"); };
  BOOST_TEST((child.start({"/no/such/program"}, never) == boost::system::errc::no_such_file_or_directory));
  BOOST_TEST((child.start({"no-such-program-in-path"}, never) == boost::system::errc::no_such_file_or_directory));
  BOOST_TEST((child.start({"/etc/passwd"}, never) == boost::system::errc::permission_denied));
  BOOST_TEST((child.start({}, never) == boost::system::errc::invalid_argument));
  BOOST_TEST(!child.running());
  BOOST_TEST((child.kill() == boost::system::errc::no_such_process));
  BOOST_TEST(no_child_is_left());
  BOOST_REQUIRE(!child.start({"/bin/true"}, note()));  // and another may be started
  loop.run();
  BOOST_TEST(seen->success());
}

BOOST_FIXTURE_TEST_CASE(one_at_a_time, fixture) {
  child_process child(loop);
  BOOST_REQUIRE(!child.start(for_ever, note()));
  BOOST_TEST((child.start({"/bin/true"}, {}) == boost::system::errc::device_or_resource_busy));
  BOOST_TEST(!child.kill(SIGKILL));  // the first one is still the one
  loop.run();
  BOOST_TEST(seen.value() == (exit_status{killed, SIGKILL}));
}

BOOST_FIXTURE_TEST_CASE(on_exit_may_start_another, fixture) {
  child_process child(loop);
  BOOST_REQUIRE(!child.start(shell("exit 1"), [&](exit_status s) {
    BOOST_TEST(s.value == 1);
    BOOST_TEST(!child.running());
    BOOST_REQUIRE(!child.start(shell("exit 2"), note()));
  }));
  loop.run();
  BOOST_TEST(seen->value == 2);
}

BOOST_FIXTURE_TEST_CASE(on_exit_may_destroy_its_owner, fixture) {
  auto child = std::make_unique<child_process>(loop);
  const auto held = std::make_shared<int>(7);
  BOOST_REQUIRE(!child->start({"/bin/true"}, [&, held](exit_status) {
    child.reset();
    BOOST_TEST(*held == 7);  // what it holds lives until it returns
    loop.stop();
  }));
  loop.run();
  BOOST_TEST(held.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(no_function_is_needed, fixture) {
  child_process child(loop);
  BOOST_REQUIRE(!child.start({"/bin/true"}, {}));
  await_a_death();
  while (child.running()) loop.poll();
  BOOST_TEST(no_child_is_left());
}

BOOST_FIXTURE_TEST_CASE(an_exception_of_on_exit_is_counted, fixture) {
  child_process child(loop);
  BOOST_REQUIRE(!child.start({"/bin/true"}, [&](exit_status) {
    loop.stop();
    throw std::runtime_error("on purpose");
  }));
  loop.run();
  BOOST_TEST(loop.counters().handler_errors.value() == 1U);
}

BOOST_FIXTURE_TEST_CASE(destroying_it_kills_the_program_and_the_loop_collects_it, fixture) {
  {
    child_process child(loop);
    BOOST_REQUIRE(!child.start(for_ever, [](exit_status) { BOOST_ERROR("called"); }));
  }
  await_a_death();
  while (!no_child_is_left()) loop.poll();
}

BOOST_FIXTURE_TEST_CASE(it_may_be_destroyed_when_the_end_is_known_but_not_dispatched, fixture) {
  {
    child_process child(loop);
    BOOST_REQUIRE(!child.start({"/bin/true"}, [](exit_status) { BOOST_ERROR("called"); }));
    await_a_death();
  }
  while (!no_child_is_left()) loop.poll();
}

BOOST_AUTO_TEST_CASE(a_loop_that_goes_takes_its_programs_with_it) {
  auto loop = std::make_unique<event_loop>();
  child_process child(*loop);  // outlives it
  const auto held = std::make_shared<int>(0);
  BOOST_REQUIRE(!child.start(for_ever, [held](exit_status) { BOOST_ERROR("called"); }));
  BOOST_REQUIRE(!child_process(*loop).start(for_ever, {}));  // without an owner already
  loop.reset();
  BOOST_TEST(!child.running());
  BOOST_TEST(held.use_count() == 1);
  BOOST_TEST(no_child_is_left());
}

BOOST_FIXTURE_TEST_CASE(many_at_once, fixture) {
  std::deque<child_process> children;
  std::vector<int> ended;
  for (int i = 0; i < 40; ++i)
    BOOST_REQUIRE(!children.emplace_back(loop).start(shell("exit " + std::to_string(i)), [&, i](exit_status s) {
      BOOST_TEST(s == (exit_status{exited, i}));
      ended.push_back(i);
      if (ended.size() == 40) loop.stop();
    }));
  loop.run();
  BOOST_TEST(no_child_is_left());
}

BOOST_FIXTURE_TEST_CASE(a_program_that_somebody_else_collects_has_ended_in_an_unknown_way, fixture) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  BOOST_TEST(run_to_the_end({"/bin/true"}) == exit_status{});
  ::signal(SIGCHLD, before);
}

BOOST_AUTO_TEST_CASE(a_loop_that_cannot_watch_starts_nothing) {
  event_loop loop(make_blocking_engine());
  child_process child(loop);
  const error_code ec = child.start(for_ever, {});
  BOOST_TEST((ec == errc::operation_not_supported));
  BOOST_TEST(!child.running());
  BOOST_TEST(no_child_is_left());
}

/// From now on the calling thread's `call` fails with `error`, as under a sandbox or an old system: always, or only if
/// its first argument is `first`.
void forbid(unsigned call, unsigned error, std::optional<unsigned> first = {}) {
  constexpr std::size_t argument = offsetof(seccomp_data, args);  // its lower half, in little-endian order
  static_assert(std::endian::native == std::endian::little);
  const std::uint8_t skipped = first ? 1 : 0;
  std::array<sock_filter, 6> code{
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first.value_or(0), 0, skipped),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog filter{code.size(), code.data()};
  BOOST_REQUIRE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  BOOST_REQUIRE(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

BOOST_DATA_TEST_CASE(a_system_without_pidfd_is_told_from_a_missing_program,
                     boost::unit_test::data::make({ENOSYS, EPERM}), error) {
  std::thread([&] {
    forbid(SYS_pidfd_open, static_cast<unsigned>(error));
    event_loop loop;
    child_process child(loop);
    const error_code ec = child.start(for_ever, {});
    BOOST_TEST((ec == errc::no_pidfd));
    BOOST_TEST(no_child_is_left());
  }).join();
}

/// Runs the test on a thread where waitid() does not know pidfds, as on Linux 5.3.
void on_linux_5_3(const std::function<void()>& test) {
  std::thread([&] {
    forbid(SYS_waitid, EINVAL, static_cast<unsigned>(P_PIDFD));
    test();
    BOOST_TEST(no_child_is_left());
  }).join();
}

BOOST_AUTO_TEST_CASE(linux_5_3_tells_how_a_program_has_ended) {
  on_linux_5_3([] {
    BOOST_TEST(fixture().run_to_the_end(shell("exit 7")) == (exit_status{exited, 7}));
    BOOST_TEST(fixture().run_to_the_end(shell("kill -KILL $$")) == (exit_status{killed, SIGKILL}));
  });
}

BOOST_AUTO_TEST_CASE(linux_5_3_tells_nothing_of_a_program_that_somebody_else_collects) {
  on_linux_5_3([] {
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    BOOST_TEST(fixture().run_to_the_end({"/bin/true"}) == exit_status{});
    ::signal(SIGCHLD, before);
  });
}

BOOST_AUTO_TEST_CASE(on_linux_5_3_a_loop_that_goes_takes_its_programs_with_it) {
  on_linux_5_3([] {
    event_loop loop;
    BOOST_REQUIRE(!child_process(loop).start(for_ever, {}));
  });
}

}  // namespace
}  // namespace quintet
