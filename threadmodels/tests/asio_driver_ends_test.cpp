// SPDX-License-Identifier: BSL-1.0
// asio_driver_ends_test: how servers inside of the program's io_context end, and what is refused.
#include "client.hpp"
#include "combination.hpp"
#include "waiting.hpp"

#include <quintet/net/asio.hpp>
#include <quintet/net/engine/make_engine.hpp>
#include <quintet/threadmodels/models.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace quintet::test {
namespace {

namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

/// A tick of the program's own between two looks.
constexpr auto tick = 5ms;

config of(model kind) {
  config c{.listen = {"127.0.0.1:0"}, .model = kind, .threads = {.loops = 2, .workers = {1, 2}}};
  c.engine = engine_kind::epoll;
  return c;
}

void echo(connection& c, bytes in) { c.write(in); }

}  // namespace

// ---- Ends -----------------------------------------------------------------------------------------------------------

/// A server in a context, with a connection that it has answered.
struct served {
  explicit served(model kind) : srv(std::in_place, of(kind), echo), driver(std::in_place, *srv, *context) {
    c.emplace(srv->port());
    c->send("x");
    std::atomic<bool> is_answered{false};
    std::thread answered([&] {
      BOOST_TEST(c->receive(1) == "x");
      is_answered = true;
    });
    while (!is_answered) context->run_one_for(tick);
    answered.join();
  }
  std::optional<asio::io_context> context{std::in_place, 1};
  std::optional<server> srv;
  std::optional<asio_driver> driver;
  std::optional<client> c;
};

BOOST_DATA_TEST_CASE(the_driver_may_go_first, data::make(all_models), kind) {
  served s(kind);
  s.driver.reset();
  s.srv.reset();
  BOOST_TEST(s.c->receive_rest().empty());
  s.context->run();  // returns: nothing is left in it
}

BOOST_DATA_TEST_CASE(the_context_may_go_first, data::make(all_models), kind) {
  served s(kind);
  s.context.reset();
  s.driver.reset();
  s.srv.reset();
  BOOST_TEST(s.c->receive_rest().empty());
}

BOOST_DATA_TEST_CASE(the_server_runs_on_by_hand, data::make(all_models), kind) {
  served s(kind);
  s.driver.reset();
  s.srv->stop();
  while (!s.srv->main_loop().finished()) s.srv->main_loop().poll();
  s.srv->finish();
  BOOST_TEST(s.srv->statistics().closed == 1u);
}

BOOST_AUTO_TEST_CASE(the_end_may_destroy_everything_but_the_context) {
  asio::io_context context(1);
  std::optional<server> srv(std::in_place, of(model::reactor_pool), echo);
  std::optional<asio_driver> driver;
  bool has_ended = false;
  driver.emplace(*srv, context, [&] {
    driver.reset();
    srv.reset();
    has_ended = true;
  });
  srv->stop();
  context.run();
  BOOST_TEST(has_ended);
}

BOOST_AUTO_TEST_CASE(it_may_never_run) {
  asio::io_context context(1);
  server srv(of(model::single_reactor), echo);
  const asio_driver driver(srv, context);
}

// ---- Misuse and exceptions ------------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(a_handler_that_throws_is_counted, data::make(all_models), kind) {
  asio::io_context context(1);
  server srv(of(kind), [](connection&, bytes) { throw std::runtime_error("of a handler"); });
  const asio_driver driver(srv, context);
  std::thread asking([&] {
    client c(srv.port());
    c.send("x");
    BOOST_TEST(c.receive_rest().empty());
    srv.stop();
  });
  context.run();
  asking.join();
  BOOST_TEST(srv.statistics().handler_errors == 1u);
}

namespace {

/// Throws when it is told.
class failing_engine final : public engine {
 public:
  failing_engine(std::unique_ptr<engine> of, const bool& fails)
      : engine(of->capabilities(), of->sockets(), of->embedding()), of_(std::move(of)), fails_(fails) {}
  void prepare() override { of_->prepare(); }
  bool poll(duration longest) override {
    if (fails_) throw std::runtime_error("of an engine");
    return of_->poll(longest);
  }
  void wake() noexcept override { of_->wake(); }
  error_code add(channel& c, stream_handle&& handle) override { return of_->add(c, std::move(handle)); }
  stream_handle remove(channel& c) noexcept override { return of_->remove(c); }
  error_code set_reading(channel& c, bool on) noexcept override { return of_->set_reading(c, on); }
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override { return of_->send(c, pieces); }
  void flush(flush_extent how) noexcept override { of_->flush(how); }
  void shutdown_send(stream_channel& c) noexcept override { of_->shutdown_send(c); }
  void close(stream_handle&& handle) noexcept override { of_->close(std::move(handle)); }

 private:
  std::unique_ptr<engine> of_;
  const bool& fails_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_exception_of_the_engine_leaves_run_once) {
  asio::io_context context(1);
  bool fails = false, has_ended = false;
  server_options options = server_options_of(of(model::single_reactor));
  options.make_engine = [&] { return std::make_unique<failing_engine>(make_engine(engine_kind::epoll), fails); };
  server srv(options, single_reactor(), echo);
  const asio_driver driver(srv, context, [&] { has_ended = true; });
  context.poll();
  fails = true;
  srv.stop();
  BOOST_CHECK_THROW(context.run(), std::runtime_error);
  context.run();  // returns
  BOOST_TEST(!has_ended);
  fails = false;  // for the destructor
}

BOOST_AUTO_TEST_CASE(a_turn_on_another_thread_is_refused) {
  asio::io_context context(1);
  server srv(of(model::single_reactor), echo);
  const asio_driver driver(srv, context);
  context.poll();
  srv.stop();
  std::thread([&] { BOOST_CHECK_THROW(context.run(), std::logic_error); }).join();
}

BOOST_DATA_TEST_CASE(a_handler_that_runs_the_context_gets_no_turn, data::make(all_models), kind) {
  asio::io_context context;  // with a hint of 1 Asio counts the work of nested calls wrongly, and stops
  bool is_asked = false;
  int missed = 0;  // Boost.Test is not for several threads at once, and the client checks as well
  server srv(of(kind), [&](connection& c, bytes in) {
    if (c.loop().in_this_thread() && &c.loop() == &srv.main_loop()) {
      asio::post(context, [&] { is_asked = true; });
      srv.main_loop().post([] {});
      context.poll();
      missed += is_asked ? 0 : 1;
    }
    c.write(in);
  });
  const asio_driver driver(srv, context);
  std::thread asking([&] {
    client c(srv.port());
    for (int i = 0; i < 10; ++i) {
      c.send("x");
      BOOST_TEST(c.receive(1) == "x");
    }
    srv.stop();
  });
  context.run();
  asking.join();
  BOOST_TEST(is_asked == (kind == model::single_reactor));
  BOOST_TEST(missed == 0);
}

namespace {

void check_refused(engine_kind kind) {
  asio::io_context context(1);
  config c = of(model::single_reactor);
  c.engine = kind;
  server srv(c, echo);
  BOOST_CHECK_EXCEPTION(asio_driver(srv, context), config_error, [&](const config_error& e) {
    return std::string(e.what()).starts_with("engine is " + std::string(to_string(kind)));
  });
  context.run();  // returns
}

/// Whether this build and this kernel have it.
bool has_uring() try { return !refused_by_kernel(engine_kind::uring); } catch (const config_error&) {
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_engine_without_a_descriptor_is_refused) {
  check_refused(engine_kind::asio);
  if (has_uring()) check_refused(engine_kind::uring);
}

}  // namespace quintet::test
