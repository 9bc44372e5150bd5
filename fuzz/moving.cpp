// SPDX-License-Identifier: BSL-1.0
// moving: a connection that migrates at any byte of its input replies like one that never moved.
#include "fuzz.hpp"

#include <quintet/net/connection/urgent_frames.hpp>
#include <quintet/net/framed.hpp>
#include <quintet/net/server/basic_server.hpp>

#include <quintet/net/simulation.hpp>

#include <array>
#include <optional>
#include <string>

namespace {

using namespace quintet;
using fuzz::require;
using testing::simulation;

/// Answers lines; the state is the beginnings of all lines. A line of one digit moves the connection from within the
/// handler.
struct line_handler {
  const std::vector<event_loop*>* loops;
  std::string seen = {};

  std::size_t operator()(connection& c, bytes in) {
    std::size_t used = 0;
    for (std::size_t end; (end = in.find('\n', used)) != bytes::npos; used = end + 1) {
      const bytes line = in.substr(used, end - used);
      c.write(answer(line, seen));
      if (line.size() == 1 && line[0] >= '0' && line[0] <= '2') {
        event_loop& to = *loops->at(static_cast<std::size_t>(line[0] - '0'));
        require(c.move_to(to) == (&to != &c.loop()), "a connection moves to another loop");
      }
    }
    return used;
  }
  static std::string answer(bytes line, std::string& seen) {
    seen.append(line.substr(0, 3));
    return std::to_string(seen.size()) + ":" + seen.substr(seen.size() - std::min<std::size_t>(seen.size(), 9)) + "\n";
  }
  static std::string expected(bytes in) {
    std::string out, seen;
    for (std::size_t end; (end = in.find('\n')) != bytes::npos; in.remove_prefix(end + 1))
      out += answer(in.substr(0, end), seen);
    return out;
  }
};

/// Answers each message by a line. If `Urgent`, a message that begins with '!' is urgent.
template <class Codec, bool Urgent>
struct message_handler {
  std::size_t count = 0;
  void operator()(connection& c, bytes message) { c.write(answer(message, ++count)); }
  static std::string answer(bytes message, std::size_t number) {
    return std::to_string(number) + ":" + std::to_string(message.size()) + ":" +
           std::to_string(std::hash<std::string_view>()(message)) + "\n";
  }
  static bool is_urgent(bytes message)
    requires Urgent
  {
    return message.starts_with('!');
  }
  static void on_urgent(urgent_reply& reply, bytes message)
    requires Urgent
  {
    reply.write("!" + answer(message, 0));
  }
};

/// Moves lines that begin with '!' to the front, because an urgent reply may overtake others.
std::string urgent_first(const std::string& all) {
  std::string urgent, others;
  for (std::size_t at = 0, end; (end = all.find('\n', at)) != std::string::npos; at = end + 1)
    (all[at] == '!' ? urgent : others).append(all, at, end + 1 - at);
  return urgent + others;
}

template <class Codec, bool Urgent>
std::string expected(Codec wire, bytes in) {
  using handler = message_handler<Codec, Urgent>;
  std::string out;
  std::size_t count = 0;
  for (;;) {
    const bool whole = !within_message(wire);
    const frame f = wire.parse(in);
    if (f.is == frame::state::incomplete || f.is == frame::state::failed) break;
    if (f.is == frame::state::complete) {
      if (Urgent && whole && f.message.starts_with('!'))
        out += "!" + handler::answer(f.message, 0);
      else
        out += handler::answer(f.message, ++count);
    }
    in.remove_prefix(f.size);
  }
  return urgent_first(out);
}

/// A server on a simulated network, and one client.
template <class Handler>
class world {
 public:
  world(std::uint8_t seed, bool pooled, Handler h, const std::vector<event_loop*>** loops = nullptr) : sim_(seed) {
    server_options o{.listen = {"127.0.0.1:7"}};
    o.make_engine = [this] { return sim_.network().make_engine(); };
    o.time = &sim_.time();
    server_.emplace(o, testing::simulated_model(sim_, 3, pooled), std::move(h));
    server_->start();
    if (loops) *loops = &server_->loops();
    sim_.drive(server_->main_loop());
    client_ = sim_.network().connect(7);
    sim_.run_until_quiet();
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world() {
    server_->stop();
    sim_.run_until_quiet();
    server_->finish();
    server_.reset();
    sim_.network().close(client_);
    require(sim_.network().open_handles() == 0, "every handle is closed");
  }

  /// Sends the pieces and returns all replies. The plan decides the moves between pieces.
  std::string converse(const std::vector<bytes>& pieces, std::uint8_t plan) {
    std::minstd_rand random(plan + 1U);
    std::string all;
    for (const bytes& piece : pieces) {
      sim_.network().send(client_, piece);
      const std::size_t what = random() % 8;
      if (what < 6) move(what % 3);
      if (what % 2 == 0) all += received();
    }
    return all += received();
  }

 private:
  void move(std::size_t to) {
    for (const connection_id id : server_->connections().all())
      server_->connections().post(id, [loop = server_->loops().at(to)](connection& c) { (void)c.move_to(*loop); });
  }
  std::string received() {
    std::string all;
    for (std::string more; sim_.run_until_quiet(), !(more = sim_.network().receive(client_)).empty();) all += more;
    return all;
  }

  simulation sim_;
  std::optional<basic_server> server_;
  int client_ = -1;
};

void check_lines(bool pooled, std::uint8_t seed, bytes stream) {
  const std::vector<event_loop*>* loops = nullptr;
  struct handler : line_handler {
    const std::vector<event_loop*>** from;
    explicit handler(const std::vector<event_loop*>** l) : line_handler{nullptr}, from(l) {}
    void on_open(connection&) { loops = *from; }
  };
  world<handler> w(seed, pooled, handler(&loops), &loops);
  require(w.converse(fuzz::cut(stream, seed), seed) == line_handler::expected(stream), "moves change nothing");
}

template <bool Urgent, class Codec>
void check_messages(const Codec& wire, bool pooled, std::uint8_t seed, bytes stream) {
  using handler = message_handler<Codec, Urgent>;
  world<framed<Codec, handler>> w(seed, pooled, framed(wire, handler()));
  const std::string got = urgent_first(w.converse(fuzz::cut(stream, seed), seed));
  require(got == expected<Codec, Urgent>(wire, stream), "moves change no message");
}

constexpr chunking receiving{.receive = true, .max_message = 600};
using check_function = void (*)(bool, std::uint8_t, bytes);
constexpr std::array<check_function, 6> checks{
    check_lines,
    [](bool p, std::uint8_t s, bytes in) { check_messages<false>(length_prefix<1>(), p, s, in); },
    [](bool p, std::uint8_t s, bytes in) { check_messages<false>(delimiter("\r\n"), p, s, in); },
    [](bool p, std::uint8_t s, bytes in) { check_messages<false>(chunked(length_prefix<1>(), receiving), p, s, in); },
    [](bool p, std::uint8_t s, bytes in) { check_messages<true>(length_prefix<1>(), p, s, in); },
    [](bool p, std::uint8_t s, bytes in) { check_messages<true>(chunked(length_prefix<1>(), receiving), p, s, in); },
};

}  // namespace

// The first byte chooses a handler: a lowercase letter runs it on its loop, an uppercase one on a pool. The second byte
// is the seed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::uint8_t choice = in.byte(), seed = in.byte();
  checks[(choice & 0x1fU) % checks.size()]((choice & 0x20U) == 0, seed, in.rest().substr(0, 4000));
  return 0;
}
