// SPDX-License-Identifier: BSL-1.0
// loop_handshakes_test: what a loop keeps of the sources of handshakes, which may be new for each tenant or reload.
#include "sockets.hpp"

#include <quintet/net/engine/make_engine.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/net/secure/loop_handshakes.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string_view>

namespace quintet::test {
namespace {

/// Its peers never say enough.
struct silent_source final : handshake_source {
  [[nodiscard]] first_record examine(bytes) const noexcept override { return {}; }
  [[nodiscard]] std::unique_ptr<handshake> begin(std::string_view) override { throw std::logic_error("not called"); }
};

struct stream final : securing_stream {
  explicit stream(securing_queue& queue) : securing_stream(queue) {}
  using securing_stream::stop;
  void finished(error_code, std::unique_ptr<transport>, bytes) noexcept override {}
};

BOOST_AUTO_TEST_CASE(idle_sources_are_forgotten) {
  event_loop loop(make_default_engine());
  auto& handshakes = loop.use<loop_handshakes>();
  std::weak_ptr<handshake_source> before;
  for (int i = 0; i < 3; ++i) {
    const auto source = std::make_shared<silent_source>();
    securing_queue& queue = handshakes.of(source);
    BOOST_TEST(&handshakes.of(source) == &queue);
    BOOST_TEST(before.expired());
    before = source;
  }
}

BOOST_AUTO_TEST_CASE(those_with_a_handshake_stay) {
  event_loop loop(make_default_engine());
  auto& handshakes = loop.use<loop_handshakes>();
  const testing::socket_pair sockets;
  auto source = std::make_shared<silent_source>();
  const std::weak_ptr<handshake_source> kept = source;
  auto* const waiting = new stream(handshakes.of(source));  // deletes itself
  source.reset();
  waiting->start(sockets.here.get());
  (void)handshakes.of(std::make_shared<silent_source>());
  BOOST_TEST(!kept.expired());
  waiting->stop();
  loop.poll();
  (void)handshakes.of(std::make_shared<silent_source>());
  BOOST_TEST(kept.expired());
}

}  // namespace
}  // namespace quintet::test
