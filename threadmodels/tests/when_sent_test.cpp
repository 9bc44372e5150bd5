// SPDX-License-Identifier: BSL-1.0
// when_sent_test: in all five models and both flavours, each when_sent() gets exactly one notice.
// ctest: EACH_ENGINE
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "client.hpp"
#include "combination.hpp"
#include "running.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/server.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quintet::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t piece = 100'000;
constexpr int pieces = 300;  // far more than the kernel takes while nobody reads

class journal {
 public:
  struct entry {
    int number;
    error_code error;
  };
  void tell(int number, error_code ec) {
    const std::lock_guard lock(mutex_);
    told_.push_back({number, ec});
  }
  void close(error_code why) {
    const std::lock_guard lock(mutex_);
    reason_ = why;
    told_before_close_ = told_.size();
  }
  [[nodiscard]] std::vector<entry> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  [[nodiscard]] error_code reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  [[nodiscard]] std::size_t told_before_close() const {
    const std::lock_guard lock(mutex_);
    return told_before_close_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<entry> told_;
  error_code reason_;
  std::size_t told_before_close_ = 0;
};

/// Writes copies and references in turn, each followed by a when_sent().
void write_all(connection& c, journal& log) {
  const auto shared = std::make_shared<const std::string>(piece, 's');
  for (int i = 0; i < pieces; ++i) {
    if (i % 2 == 0)
      c.write(shared);
    else
      c.write(bytes(*shared));
    c.when_sent([&log, i, &loop = c.loop()](error_code ec) { log.tell(loop.in_this_thread() ? i : -1, ec); });
  }
}

struct callbacks {
  journal* log;
  void operator()(connection& c, bytes) const { write_all(c, *log); }
  void on_close(connection&, error_code why) const { log->close(why); }
};
struct coroutines {
  journal* log;
  awaitable<> operator()(stream& s) const { return run(s, *log); }
  static awaitable<> run(stream& s, journal& log) {
    while (co_await s.read()) co_await s.offload([&] { write_all(s, log); });  // on the pool, if there is one
  }
};

/// Returns how many pieces were sent. They precede those that failed.
std::size_t check(const std::vector<journal::entry>& told) {
  BOOST_TEST(told.size() == static_cast<std::size_t>(pieces));
  std::size_t sent = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    BOOST_REQUIRE(told[i].number == static_cast<int>(i));
    if (told[i].error) continue;
    BOOST_TEST(sent == i);
    ++sent;
  }
  return sent;
}

template <class Handler>
void all_is_read(model kind) {
  journal log;
  running<server> srv(config{.model = kind}, Handler{&log});
  client c(srv->port());
  c.send("x");
  BOOST_TEST(c.receive(piece * pieces).size() == piece * pieces);
  BOOST_TEST(eventually([&] { return log.told().size() == pieces; }));
  BOOST_TEST(check(log.told()) == static_cast<std::size_t>(pieces));
}

template <class Handler>
void is_reset(model kind) {
  journal log;
  running<server> srv(config{.model = kind}, Handler{&log});
  client c(srv->port(), {.receive_buffer = 16 * 1024});
  c.send("x");
  BOOST_TEST(c.receive(piece).size() == piece);  // the first piece was sent
  c.reset();
  BOOST_TEST(eventually([&] { return srv->statistics().closed == 1; }));
  const auto told = log.told();
  const std::size_t sent = check(told);
  BOOST_TEST(sent >= 1u);
  BOOST_REQUIRE(sent < static_cast<std::size_t>(pieces));
  for (std::size_t i = sent; i < told.size(); ++i) BOOST_TEST(told[i].error == told.back().error);
  if (!std::is_same_v<Handler, callbacks>) return;
  BOOST_TEST(log.reason() == told.back().error);
  BOOST_TEST(log.told_before_close() == static_cast<std::size_t>(pieces));
}

BOOST_DATA_TEST_CASE(all_are_told_when_all_was_sent, data::make(all_models), kind) {
  all_is_read<callbacks>(kind);
  all_is_read<coroutines>(kind);
}

BOOST_DATA_TEST_CASE(all_are_told_when_the_peer_resets, data::make(all_models), kind) {
  is_reset<callbacks>(kind);
  is_reset<coroutines>(kind);
}

BOOST_DATA_TEST_CASE(all_are_told_when_the_server_stops, data::make(all_models), kind) {
  for (int i = 0; i < 5; ++i) {
    journal log;
    running<server> srv(config{.model = kind}, callbacks{&log});
    client c(srv->port(), {.receive_buffer = 16 * 1024});
    c.send("x");
    BOOST_TEST(c.receive(100).size() == 100u);
    srv.stop();
    srv.join();
    BOOST_TEST(check(log.told()) < static_cast<std::size_t>(pieces));
  }
}

}  // namespace
}  // namespace quintet::test
