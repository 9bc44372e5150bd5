// SPDX-License-Identifier: BSL-1.0
// registry: connections that reach others by id, change their limits, migrate, and use every kind of write.
#include "scenario.hpp"
#include "waiting.hpp"

#include <quintet/net/stream.hpp>

#include <array>
#include <memory>
#include <mutex>

namespace quintet::test {
namespace {

constexpr std::size_t places = 4;

/// The state that the connections of a server share.
struct table {
  std::mutex mutex;
  std::array<connection_id, places> ids;
  std::vector<event_loop*> loops;
  std::atomic<unsigned> asked{0}, told{0};  // calls of when_sent(), and their notices

  connection_id at(char digit) {
    const std::lock_guard lock(mutex);
    return ids.at(static_cast<std::size_t>(digit - '0'));
  }
  void put(char digit, connection_id id) {
    const std::lock_guard lock(mutex);
    ids.at(static_cast<std::size_t>(digit - '0')) = id;
  }
};

/// The protocol: the answer to a line is "ok <line>", or "no <line>" if the library has refused it.
class commands {
 public:
  explicit commands(table& all) noexcept : all_(&all) {}
  /// The answer to "cast" is "to <count>". This function does not handle the line "expect".
  void execute(connection& c, bytes line) {
    const bytes verb = line.substr(0, line.find(' '));
    const char which = line.back();
    bool done = true;
    if (verb == "here")
      all_->put(which, c.id());
    else if (verb == "cork")
      write_corked(c);
    else if (verb == "when")
      ask_when_sent(c);
    else if (verb == "limits")
      c.set_limits({.first_byte_timeout = hour, .idle_timeout = hour, .send_timeout = hour, .message_timeout = hour});
    else if (verb == "feed")
      c.throttle_source(all_->at(which));
    else if (verb == "promote")
      done = c.move_to_priority_loop();
    else if (verb == "move")
      done =
          !all_->loops.empty() && c.move_to(*all_->loops[static_cast<std::size_t>(which - '0') % all_->loops.size()]);
    else if (verb == "cast")
      return tell_all(c);
    else
      done = use_registry(c, verb, which);
    c.write(std::string(done ? "ok " : "no ") + std::string(line) + "\n");
  }

 private:
  static constexpr duration hour = std::chrono::hours(1);

  static void write_corked(connection& c) {
    const cork_guard together = c.cork();
    c.write("corked ");
    c.flush();
    c.write("text\n");
  }
  void ask_when_sent(connection& c) {
    c.write("notice\n");
    c.when_sent([all = all_, seen = counted()](error_code) { ++all->told; });
    ++all_->asked;
  }
  bool use_registry(connection& c, bytes verb, char which) {
    connection_registry& registry = c.registry();
    if (verb == "send") return !registry.send(all_->at(which), "sent\n");
    if (verb == "post")
      return !registry.post(all_->at(which), [seen = counted()](connection& to) { to.write("posted\n"); });
    if (verb == "close") return !registry.close(all_->at(which));
    return false;
  }
  void tell_all(connection& c) {
    std::array<connection_id, places> to;
    for (std::size_t i = 0; i < places; ++i) to[i] = all_->at(static_cast<char>('0' + i));
    const std::size_t count = c.registry().broadcast(to, std::make_shared<const std::string>("cast\n"));
    c.write("to " + std::to_string(count) + "\n");
  }
  table* all_;
};

constexpr std::size_t body = 5000;

class registry_callback {
 public:
  explicit registry_callback(table& all) noexcept : commands_(all) {}
  std::size_t operator()(connection& c, bytes in) {
    std::size_t used = 0;
    for (;;) {
      if (in_body_ && in.size() - used < body) {
        c.require_input(body);
        return used;
      }
      if (in_body_) used += body;
      if (std::exchange(in_body_, false)) c.write("body\n");
      const std::size_t end = in.find('\n', used);
      if (end == bytes::npos) return used;
      const bytes line = in.substr(used, end - used);
      in_body_ = line == "expect";
      if (!in_body_) commands_.execute(c, line);
      used = end + 1;
    }
  }

 private:
  counted seen_;
  commands commands_;
  bool in_body_ = false;
};

awaitable<> serve(stream& s, table& all) {
  const counted seen;
  commands c(all);
  while (const auto line = co_await s.read_until("\n")) {
    if (*line == "expect\n") {
      if (!co_await s.read_exactly(body)) co_return;
      s.write("body\n");
    } else {
      c.execute(s, line->substr(0, line->size() - 1));
    }
  }
}
struct registry_coroutine {
  table* all;
  awaitable<> operator()(stream& s) const { return serve(s, *all); }
};

/// Returns true for "ok ...", false for "no ...", and nothing if the connection has ended.
std::optional<bool> say(peer& p, const std::string& line) {
  if (!p.send(line + "\n")) return std::nullopt;
  const auto reply = p.line();
  if (!reply) return std::nullopt;
  if (*reply != "ok " + line && *reply != "no " + line) throw std::runtime_error("corrupt: '" + *reply + "'");
  return reply->starts_with("ok");
}

struct peers_by_number {
  std::vector<peer> peers;
  [[nodiscard]] unsigned lost() const {
    return static_cast<unsigned>(std::ranges::count_if(peers, [](const peer& p) { return !p.alive(); }));
  }
  /// Checks that the first peer's request reaches the peer `to`, unless one of the two is lost.
  void reach(const std::string& line, std::size_t to, std::string_view text) {
    if (!peers[0].alive() || !peers[to].alive()) return;
    if (say(peers[0], line) == true) peers[to].expect(text);
  }
  /// Checks that as many connections as the broadcast says get it. Which ones, and when, is not defined.
  void reach_all() {
    std::size_t expected = 0, got = 0;
    if (!peers[0].send("cast\n")) return;
    for (auto line = peers[0].line(); line; line = peers[0].line()) {
      got += *line == "cast";
      if (line->starts_with("to ")) expected = std::stoul(line->substr(3));
      if (line->starts_with("to ")) break;
    }
    const auto deadline = std::chrono::steady_clock::now() + peer_patience;
    while (got + lost() < expected) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("stall: a broadcast does not arrive");
      for (peer& p : peers) got += casts_at(p);
    }
  }

 private:
  static std::size_t casts_at(peer& p) {
    std::size_t count = 0;
    if (!p.send("none 0\n")) return 0;
    for (auto line = p.line(); line && *line != "no none 0"; line = p.line()) count += *line == "cast";
    return count;
  }
};

template <class Stage>
peers_by_number gather(Stage& all) {
  peers_by_number c;
  for (std::size_t i = 0; i < places; ++i) {
    c.peers.push_back(all.connect());
    if (say(c.peers[i], "here " + std::to_string(i)) != true) throw std::runtime_error("no beginning");
  }
  return c;
}

template <class Script>
unsigned perform(const surroundings& where, const config& c, Script script) {
  table known;
  return with_flavour(where, registry_callback(known), registry_coroutine{&known}, [&](auto handler) {
    stage all(c, handler, "none 0\n", "no none 0\n");
    known.loops = all->loops();
    peers_by_number whole = gather(all);
    const unsigned lost = script(whole);
    all.check();
    if (!eventually([&] { return known.told >= known.asked; })) throw std::runtime_error("when_sent() was forgotten");
    return lost;
  });
}

unsigned run_registry(const surroundings& where, injection& faults) {
  return perform(where, config_for(where), [&](peers_by_number& c) {
    faults.begin();
    c.reach("send 1", 1, "sent\n");
    c.reach("post 2", 2, "posted\n");
    if (c.peers[1].send("cork\n")) c.peers[1].expect("corked text\nok cork\n");
    if (c.peers[2].send("when\n")) c.peers[2].expect("notice\nok when\n");
    if (c.peers[2].send("expect\n" + std::string(body / 2, 'b')))
      c.peers[2].ask(std::string(body - body / 2, 'b'), "body\n");
    say(c.peers[1], "limits");
    say(c.peers[1], "none");
    say(c.peers[1], "feed 2");
    c.reach("post 1", 1, "posted\n");
    const bool early = !c.peers[3].alive();
    if (say(c.peers[0], "close 3") == true) c.peers[3].await_end();
    c.peers[3].close();
    c.reach_all();
    faults.end();
    return c.lost() - 1 + early;
  });
}

unsigned run_moving(const surroundings& where, injection& faults) {
  config c = config_for(where);
  c.advanced.priority = {.without_listener = true, .scheduling = priority_scheduling::none};
  return perform(where, c, [&](peers_by_number& all) {
    faults.begin();
    for (const char* const line : {"move 1", "move 0", "limits", "move 1"}) {
      say(all.peers[1], line);
      all.reach("send 1", 1, "sent\n");
      all.reach("post 1", 1, "posted\n");
    }
    for (const std::size_t i : {1U, 2U}) {
      say(all.peers[i], "promote");
      all.reach("post " + std::to_string(i), i, "posted\n");
      say(all.peers[i], "none");
    }
    faults.end();
    return all.lost();
  });
}

}  // namespace

const scenario registry_scenario{"registry", &run_registry};
const scenario moving_scenario{"moving", &run_moving};

}  // namespace quintet::test
