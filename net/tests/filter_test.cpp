// SPDX-License-Identifier: BSL-1.0
// filter_test: streams that carry a filter, on every engine that this kernel has.
#include "engine_stream.hpp"
#include "toy_filter.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace quintet {
namespace {

using namespace std::chrono_literals;
using testing::numbered;
using testing::toy_filter;

/// The engine's end of the connection has a filter; the peer uses another one.
struct fixture : testing::engine_stream {
  explicit fixture(testing::tested_engine kind, std::size_t limit = engine::receive_size)
      : engine_stream(kind), limit_(limit), other_(decorated(testing::make_engine(kind))) {
    io = decorated(std::move(io));
    io->sockets().limit_buffers(handle, {.send_buffer = 16 * 1024});
    watch({handle, testing::carry_toy_filter(nullptr)});
  }
  void watch(stream_handle s) { BOOST_REQUIRE(!io->add(here, std::move(s))); }
  /// To another engine, if bytes can leave this one; else away from this one and back.
  void migrate() {
    stream_handle s = io->remove(here);
    if (io->capabilities().can_detach) io.swap(other_);
    watch(std::move(s));
  }
  std::string decrypted(bytes records) {
    std::string plain(records.size() + 1, '\0');
    const filter::result r = peer_filter.decrypt(records, plain);
    BOOST_TEST(!r.failed);
    has_finished |= r.ended;
    plain.resize(r.produced);
    return plain;
  }
  /// Sends until records wait although the kernel has had time. Returns what was accepted. The peer has room for
  /// `window` bytes. When it reads, one of more than a segment opens again at once, a smaller one with the kernel's
  /// next probe.
  std::string fill(int window = 16 * 1024) {
    BOOST_REQUIRE(::setsockopt(peer.get(), SOL_SOCKET, SO_RCVBUF, &window, sizeof window) == 0);
    const std::string text = numbered(16'000'000);
    std::size_t taken = 0;
    for (int full = 0; full < 3;) {
      const std::size_t more = send_until_full(text.substr(taken));
      taken += more;
      full = more > 0 ? 0 : full + 1;
    }
    BOOST_REQUIRE(taken < text.size());
    return text.substr(0, taken);
  }
  void close() { io->close(io->remove(here)), handle = -1; }

  toy_filter peer_filter{testing::next_seed()};
  bool has_finished = false;

 private:
  std::unique_ptr<engine> decorated(std::unique_ptr<engine> of) const {
    of = decorate(std::move(of), {.filters = true});
    of->limit_receive(limit_);
    return of;
  }
  std::size_t limit_;
  std::unique_ptr<engine> other_;
};

bool is_open(int handle) { return ::fcntl(handle, F_GETFD) >= 0; }

QUINTET_ENGINE_TEST(an_engine_without_filters_refuses_the_stream) {
  testing::engine_stream f(kind);
  stream_handle s(f.handle, testing::carry_toy_filter(nullptr));
  BOOST_TEST(f.io->add(f.here, std::move(s)) == boost::system::errc::operation_not_supported);
  BOOST_TEST(s.carried() != nullptr);
}

// A decorator costs plain streams nothing for each send: the loop makes the system call, as without one.
QUINTET_ENGINE_TEST(a_plain_stream_under_a_decorator_sends_as_without_it) {
  testing::engine_stream alone(kind), f(kind);
  alone.watch();
  f.io = decorate(std::move(f.io), {.filters = true});
  f.watch();
  BOOST_TEST(f.here.sends_directly() == alone.here.sends_directly());
  const std::string text = numbered(4'000'000);  // more than the kernel takes at once
  std::string heard;
  std::thread listening([&] { heard = f.heard(text.size()); });
  f.send_all(text);
  listening.join();
  BOOST_TEST((heard == text));
  const fixture filtered(kind);
  BOOST_TEST(!filtered.here.sends_directly());
}

QUINTET_ENGINE_TEST(records_may_be_cut_anywhere) {
  fixture f(kind);
  std::string records = f.peer_filter.encrypted("hello, ");
  records += f.peer_filter.encrypted("world");
  for (const char c : records) {
    f.say({&c, 1});
    f.poll_until_idle();
  }
  BOOST_TEST(f.here.received == "hello, world");
  f.say(f.peer_filter.finished());
  BOOST_TEST(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(!*f.here.ended);
}

QUINTET_ENGINE_TEST(both_directions_carry_what_was_sent) {
  fixture f(kind);
  const std::string text = numbered(300'000);
  const std::string records = f.peer_filter.encrypted(text);
  std::thread talking([&] {
    for (bytes left = records; !left.empty(); left.remove_prefix(std::min<std::size_t>(left.size(), 7777)))
      (void)f.try_to_say(left.substr(0, 7777));
  });
  BOOST_TEST(f.until([&] { return f.here.received.size() == text.size(); }));
  talking.join();
  BOOST_TEST((f.here.received == text));
  std::string sent;
  f.here.writes = [&] {
    error_code broken;
    sent += text.substr(sent.size(), f.send(bytes(text).substr(sent.size()), broken));
    if (sent.size() == text.size()) f.io->shutdown_send(f.here);
  };
  f.here.writes();
  BOOST_TEST((f.decrypted(f.heard_by_another_thread([&] { f.io->poll(10ms); })) == text));
  BOOST_TEST(f.has_finished);
}

QUINTET_ENGINE_TEST(pieces_are_sent_in_order) {
  fixture f(kind);
  std::string a = "one", b = numbered(9000), c = "three", d = numbered(40'000);
  std::array<iovec, 4> pieces{{{a.data(), 3}, {b.data(), b.size()}, {c.data(), 5}, {d.data(), d.size()}}};
  const auto sent = f.io->send(f.here, pieces);
  BOOST_TEST(sent.error == 0);
  BOOST_TEST(sent.bytes > 9000U);
  f.io->shutdown_send(f.here);
  const std::string all = f.decrypted(f.heard_by_another_thread([&] { f.io->poll(10ms); }));
  BOOST_TEST((all == (a + b + c + d).substr(0, sent.bytes)));
}

QUINTET_ENGINE_TEST(a_callback_gets_at_most_the_limit) {
  fixture f(kind, 3);
  std::size_t before = 0, most = 0;
  f.here.then = [&] { most = std::max(most, f.here.received.size() - std::exchange(before, f.here.received.size())); };
  f.say(f.peer_filter.encrypted("0123456789"));
  BOOST_TEST(f.until([&] { return f.here.received.size() == 10; }));
  BOOST_TEST(most == 3U);
}

QUINTET_ENGINE_TEST(a_stop_in_the_middle_leaves_the_rest_for_later) {
  fixture f(kind, 16);
  const std::string text = numbered(5000);
  f.here.then = [&] { (void)f.io->set_reading(f.here, false); };
  f.say(f.peer_filter.encrypted(text) + f.peer_filter.finished());
  BOOST_TEST(f.until([&] { return !f.here.received.empty(); }));
  f.poll_until_idle();
  BOOST_TEST(f.here.received.size() < text.size());
  for (int i = 0; i < 10'000 && !f.here.ended; ++i) {
    const arrival now = f.io->arrived(f.here);
    BOOST_TEST((f.io->has_more(f.here, now) || f.here.received.size() == text.size()));
    BOOST_REQUIRE(!f.io->set_reading(f.here, true));
    f.io->poll(1s);
  }
  BOOST_TEST((f.here.received == text));
  BOOST_TEST((f.here.ended && !*f.here.ended));
}

QUINTET_ENGINE_TEST(a_removal_in_the_middle_takes_the_rest_along) {
  fixture f(kind, 16);
  if (!f.io->capabilities().can_detach) return;
  const std::string text = numbered(2000);
  stream_handle taken;
  f.here.then = [&] {
    if (f.here.received.size() % 5 == 0) taken = f.io->remove(f.here);
  };
  f.say(f.peer_filter.encrypted(text));
  for (int i = 0; i < 10'000 && f.here.received.size() < text.size(); ++i) {
    if (taken) f.watch(std::move(taken));
    if (f.here.handle() >= 0 && i % 3 == 0) f.migrate();
    f.io->poll(10ms);
  }
  BOOST_TEST((f.here.received == text));
  if (taken) f.watch(std::move(taken));
}

QUINTET_ENGINE_TEST(only_whole_records_keep_a_drain_waiting) {
  fixture f(kind);
  (void)f.io->set_reading(f.here, false);
  f.poll_until_idle();
  const std::string records = f.peer_filter.encrypted("abc");
  f.say(bytes(records).substr(0, records.size() - 1));
  f.poll_until_idle();
  const arrival first = f.io->arrived(f.here);
  BOOST_TEST(f.io->has_more(f.here, first));  // nobody knows what the kernel has
  (void)f.io->set_reading(f.here, true);
  // Ask again: after a batch, if the text has become several records, or after a part of a record.
  BOOST_TEST(f.until([&] { return f.here.nothing > 0 || !f.here.received.empty(); }));
  f.poll_until_idle();
  BOOST_TEST(!f.io->has_more(f.here, first));
  f.say(bytes(records).substr(records.size() - 1));
  BOOST_TEST(f.until([&] { return f.here.received == "abc"; }));
  BOOST_TEST(!f.io->has_unread(f.here));
}

// ---- The end of input -----------------------------------------------------------------------------------------------

QUINTET_ENGINE_TEST(an_end_without_the_last_record_is_a_failure) {
  fixture f(kind);
  f.say(f.peer_filter.encrypted("cut off"));
  ::shutdown(f.peer.get(), SHUT_WR);
  BOOST_TEST(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(f.here.received == "cut off");
  BOOST_TEST((*f.here.ended == errc::stream_truncated));
}

QUINTET_ENGINE_TEST(a_corrupt_record_ends_the_input_after_those_before) {
  fixture f(kind);
  f.say(f.peer_filter.encrypted("good") + "\xFF\xFF garbage");
  BOOST_TEST(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(f.here.received == "good");
  BOOST_TEST((*f.here.ended == errc::malformed_message));
  f.here.ended.reset();
  f.say("more garbage");
  f.poll_until_idle();
  BOOST_TEST(!f.here.ended);
}

QUINTET_ENGINE_TEST(input_outlives_a_reset) {
  fixture f(kind, 16);
  f.here.then = [&] { (void)f.io->set_reading(f.here, false); };
  f.say(f.peer_filter.encrypted(numbered(400)));
  BOOST_TEST(f.until([&] { return !f.here.received.empty(); }));
  f.poll_until_idle();
  f.reset();
  f.poll_until_idle();
  f.here.then = nullptr;
  BOOST_TEST(!f.here.ended);
  const std::size_t before = f.here.received.size();
  (void)f.io->set_reading(f.here, true);
  BOOST_TEST(f.until([&] { return f.here.ended.has_value(); }));
  BOOST_TEST(f.here.received.size() > before);  // at least what the filter had
  BOOST_TEST(bool(*f.here.ended));
}

// ---- Records that wait ----------------------------------------------------------------------------------------------

QUINTET_ENGINE_TEST(records_that_wait_migrate) {
  fixture f(kind);
  const std::string taken = f.fill();
  BOOST_TEST(f.io->unsent(f.here) > 0U);
  f.migrate();
  f.io->shutdown_send(f.here);
  BOOST_TEST((f.decrypted(f.heard_by_another_thread([&] { f.io->poll(10ms); })) == taken));
  BOOST_TEST(f.has_finished);
}

QUINTET_ENGINE_TEST(a_closed_stream_sends_its_last_records) {
  fixture f(kind);
  const std::string taken = f.fill();
  const int handle = f.handle;
  f.close();
  f.poll_until_idle();
  BOOST_TEST(is_open(handle));
  BOOST_TEST((f.decrypted(f.heard_by_another_thread([&] { f.io->poll(10ms); })) == taken));
  BOOST_TEST(f.has_finished);
  BOOST_TEST(f.until([&] { return !is_open(handle); }));
}

QUINTET_ENGINE_TEST(a_closed_stream_sends_what_waited_in_this_turn) {
  fixture f(kind);
  error_code broken;
  BOOST_TEST(f.send("goodbye", broken) == 7U);
  f.close();
  f.poll_until_idle();
  BOOST_TEST(f.decrypted(f.heard(100)) == "goodbye");
  BOOST_TEST(f.has_finished);
}

QUINTET_ENGINE_TEST(the_end_of_the_loop_waits_for_the_last_records) {
  fixture f(kind);
  const std::string taken = f.fill(128 * 1024);  // the wait has a time limit
  const int handle = f.handle;
  f.close();
  const auto heard = f.heard_by_another_thread([&] { f.io->flush(engine::flush_extent::closing); });
  BOOST_TEST((f.decrypted(heard) == taken));
  BOOST_TEST(f.has_finished);
  BOOST_TEST(!is_open(handle));
}

QUINTET_ENGINE_TEST(but_not_for_a_peer_that_reads_nothing) {
  fixture f(kind);
  (void)f.fill();
  const int handle = f.handle;
  f.close();
  f.io->flush(engine::flush_extent::closing);
  BOOST_TEST(!is_open(handle));
  std::string last(16'000'000, '\0');
  ssize_t n = 0;
  do n = ::recv(f.peer.get(), last.data(), last.size(), 0);
  while (n > 0);
  BOOST_TEST(n < 0);  // not an end that looks complete
}

QUINTET_ENGINE_TEST(a_reset_waits_for_nothing) {
  fixture f(kind);
  (void)f.fill();
  const int handle = f.handle;
  f.io->sockets().reset_when_closed(handle);
  f.close();
  f.poll_until_idle();
  BOOST_TEST(!is_open(handle));
}

}  // namespace
}  // namespace quintet
