// SPDX-License-Identifier: BSL-1.0
// echo: pipelined and partial frames, a reply that waits, and a malformed frame.
#include "scenario.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include <memory>

namespace quintet::test {
namespace {

constexpr std::size_t large_reply = 3U << 20U;  // more than the sockets' buffers and the high watermark
constexpr std::size_t piece_size = 64U << 10U;

length_prefix<4> wire() { return length_prefix<4>(1U << 20U); }

std::string frame_of(std::string_view text) {
  std::string whole;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) whole += static_cast<char>(text.size() >> shift & 255U);
  return whole += text;
}

/// Writes one piece of a large reply: copied, moved or shared, in turn.
void write_piece(connection& c, std::size_t left) {
  const std::size_t number = left / piece_size;
  std::string piece(piece_size, 'l');
  if (number % 3 == 0)
    c.write(bytes(piece));
  else if (number % 3 == 1)
    c.write(std::move(piece));
  else
    c.write(std::make_shared<const std::string>(std::move(piece)));
}

struct echo_callback {
  counted seen;
  std::size_t left = 0;

  void operator()(connection& c, bytes message) {
    if (message == "large") {
      left = large_reply;
      on_writable(c);
    } else if (const error_code failed = write_message(c, wire(), message)) {
      c.close(failed);
    }
  }
  void on_writable(connection& c) {
    while (left > 0 && c.writable()) {
      write_piece(c, left);
      left -= piece_size;
    }
  }
};

awaitable<> write_large(stream& s) {
  for (std::size_t left = large_reply; left > 0; left -= piece_size) {
    write_piece(s, left);
    if (!co_await s.until_writable()) co_return;
  }
}
awaitable<> echo_coroutine(stream& s) {
  const counted seen;
  auto frames = wire();
  for (;;) {
    const auto message = co_await s.read_message(frames);
    if (!message) {
      if (message.error() != errc::end_of_stream) s.close(message.error());
      co_return;
    }
    if (*message == "large")
      co_await write_large(s);
    else if (const error_code failed = write_message(s, wire(), *message))
      s.close(failed);
  }
}

/// Sends whole frames, a frame in two parts, and a frame for which the input buffer has to grow.
void send_in_parts(peer& p) {
  const std::string small = frame_of("small"), long_one = frame_of(std::string(100'000, 'p'));
  p.send(small + small + small + small.substr(0, 6));
  p.expect(small + small + small);
  p.ask(small.substr(6), small);
  p.send(long_one.substr(0, 50'000));
  p.ask(long_one.substr(50'000), long_one);
}
void send_pipelined(peer& p) {
  std::string many;
  for (int i = 0; i < 64; ++i) many += frame_of(std::string(100, static_cast<char>('0' + i)));
  p.ask(many, many);
}
void ask_for_much(peer& p) {
  if (p.send(frame_of("large"))) p.expect(std::string(large_reply, 'l'));
  p.ask(frame_of("after"), frame_of("after"));
}

unsigned run_echo(const surroundings& where, injection& faults) {
  return with_flavour(where, framed(wire(), echo_callback()), &echo_coroutine, [&](auto handler) {
    stage all(config_for(where), handler, frame_of("hello"), frame_of("hello"));
    peer in_parts = all.connect(), pipelined = all.connect(), much = all.connect(16 << 10), wrong = all.connect();
    for (peer* const p : {&in_parts, &pipelined, &much, &wrong}) p->ask(frame_of("first"), frame_of("first"));
    faults.begin();
    send_in_parts(in_parts);
    send_pipelined(pipelined);
    ask_for_much(much);
    send_in_parts(much);
    const bool early = !wrong.alive();
    if (wrong.send("\xff\xff\xff\xff")) wrong.await_end();
    faults.end();
    all.check();
    return static_cast<unsigned>(!in_parts.alive() + !pipelined.alive() + !much.alive() + early);
  });
}

}  // namespace

const scenario echo_scenario{"echo", &run_echo};

}  // namespace quintet::test
