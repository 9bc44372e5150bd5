// SPDX-License-Identifier: BSL-1.0
// engine_stream: an engine driven by hand, one stream on it, and the stream's peer.
#pragma once

#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/options/loop_options.hpp>

#include "each_engine.hpp"
#include "sockets.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <boost/test/unit_test.hpp>

namespace quintet::testing {

using namespace std::chrono_literals;

struct stream final : stream_channel {
  void on_received(bytes arrived) override {
    received += arrived;
    if (then) then();
  }
  void on_received_nothing() override { ++nothing; }
  void on_receive_end(error_code reason) override {
    ended = reason;
    if (then) then();
  }
  void on_sendable() override {
    ++sendable;
    if (writes) writes();
  }
  std::span<char> receive_space() noexcept override {
    ++asked;
    if (asks) asks();
    return std::span(room).subspan(filled);
  }
  void on_received_in_place(std::size_t count) override {
    filled += count;
    if (then) then();
  }
  std::string received;
  std::string room;  // for receiving in place
  std::size_t filled = 0;
  int asked = 0;
  std::optional<error_code> ended;
  int sendable = 0, nothing = 0;
  std::function<void()> then, writes, asks;
};

/// An engine and both ends of a connection, by TCP or the given one. The engine watches one end.
struct engine_stream {
  explicit engine_stream(tested_engine kind) : io(make_engine(kind)) {
    const int listener = io->sockets().listen("127.0.0.1:0");
    peer = connected_to(io->sockets().local_address(listener));
    handle = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    io->close(listener);
  }
  engine_stream(tested_engine kind, socket_pair both)
      : io(make_engine(kind)), peer(std::move(both.there)), handle(both.here.release()) {}
  ~engine_stream() {
    if (here.handle() >= 0) io->remove(here);
    if (handle >= 0) io->close(handle);
    while (io->poll(0ms)) {
    }
  }
  void watch() { BOOST_REQUIRE(!io->add(here, handle)); }
  bool until(const std::function<bool()>& done) const { return testing::until(*io, done); }
  /// Polls until three polls in a row find no event.
  void poll_until_idle() const {
    for (int quiet = 0; quiet < 3;) quiet = io->poll(1ms) ? 0 : quiet + 1;
  }
  void say(bytes text) const { BOOST_REQUIRE(try_to_say(text)); }
  /// [any thread] Makes no check, because Boost.Test checks in one thread only.
  bool try_to_say(bytes text) const { return ::send(peer.get(), text.data(), text.size(), 0) > 0; }
  std::string heard(std::size_t size) const {
    std::string text(size, '\0');
    const ssize_t n = ::recv(peer.get(), text.data(), size, MSG_WAITALL);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
  std::size_t send(bytes text, error_code& broken) {
    const engine::send_result sent = io->send(here, text);
    broken = error_code(sent.error, boost::system::system_category());
    return sent.bytes;
  }
  /// Sends until the engine has accepted all of it.
  void send_all(const std::string& text) {
    std::size_t sent = 0;
    error_code broken;
    here.writes = [&] {
      if (sent < text.size()) sent += send(bytes(text).substr(sent), broken);
    };
    here.writes();
    BOOST_TEST(until([&] { return sent == text.size() || broken; }));
    here.writes = nullptr;
    BOOST_TEST(!broken);
  }
  /// Sends small pieces until the engine accepts no more; the peer does not read. Returns the bytes accepted.
  std::size_t send_until_full(const std::string& text) {
    std::size_t sent = 0;
    error_code broken;
    for (std::size_t more = 1; more > 0 && sent < text.size() && !broken; sent += more) {
      more = send(bytes(text).substr(sent, 3000), broken);
      poll_until_idle();
    }
    BOOST_TEST(!broken);
    return sent;
  }
  /// Returns all bytes up to the end of the stream. Another thread receives them; this thread calls work().
  std::string heard_by_another_thread(const std::function<void()>& work) const {
    std::string text;
    std::atomic<bool> over = false;
    std::thread listening([&] {
      for (std::string some; !(some = heard(64 * 1024)).empty();) text += some;
      over = true;
    });
    while (!over) work();
    listening.join();
    return text;
  }
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    peer.reset();
  }

  std::unique_ptr<engine> io;
  file_descriptor peer;
  int handle = -1;
  stream here;
};

inline std::string numbered(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text.append(std::to_string(i)).append(",");
  text.resize(size);
  return text;
}

}  // namespace quintet::testing
