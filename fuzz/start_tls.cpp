// SPDX-License-Identifier: BSL-1.0
// start_tls: whatever a client sends around its request for TLS, and however it is cut, no plain byte reaches the
// handler afterwards.
#include "fuzz.hpp"

#include "certificates.hpp"
#include "tls_peer.hpp"

#include <quintet/net/server/basic_server.hpp>
#include <quintet/net/stream.hpp>
#include <quintet/net/tls.hpp>

#include <quintet/net/simulation.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <unistd.h>

namespace {

using namespace quintet;
using fuzz::require;
using testing::simulation;

constexpr bytes request = "TLS";
constexpr bytes secret = "only by TLS";

/// Reads its certificate from a folder that is removed before main() can end.
const std::shared_ptr<tls_context>& context() {
  static const std::shared_ptr<tls_context> made = [] {
    const auto folder = std::filesystem::temp_directory_path() / ("quintet_fuzz_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const testing::certificate_files files((folder / "own").string(), testing::certificate());
    auto of_server = std::make_shared<tls_context>(tls_options{.certificates = {{files.chain, files.key}}});
    std::filesystem::remove_all(folder);
    return of_server;
  }();
  return made;
}

/// What a handler has got. The first input ends with the request; what came with it behind that stays unused.
struct inputs {
  std::string plain, secured;
  bool asked = false;

  std::size_t take(connection& c, bytes in) {
    if (asked) return secured += in, in.size();
    const std::size_t before = plain.size();
    plain += in;
    const std::size_t found = plain.find(request);
    if (found == std::string::npos) return in.size();
    plain.resize(found + request.size());
    asked = !c.start_tls(context(), "S");
    require(asked, "a plain connection can begin TLS");
    return plain.size() - before;
  }
};
struct by_callback {
  inputs* got;
  std::size_t operator()(connection& c, bytes in) const { return got->take(c, in); }
};
struct by_coroutine {
  inputs* got;
  awaitable<> operator()(stream& s) const {
    while (const auto in = co_await s.read_exactly(1)) got->take(s, *in);
  }
};

/// A server on a simulated network, and one client, that shakes hands if it is asked to.
class world {
 public:
  template <class Handler>
  world(std::uint8_t seed, bool pooled, Handler handler) : sim_(seed) {
    server_options o{.listen = {{"127.0.0.1:7", {.tls_begins = tls_beginning::on_request}}}};
    o.make_engine = [this] { return sim_.network().make_engine(); };
    o.time = &sim_.time();
    server_.emplace(o, testing::simulated_model(sim_, 0, pooled), handler);
    server_->start();
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

  void send(bytes stream, std::uint8_t plan) {
    for (const bytes piece : fuzz::cut(stream, plan)) {
      sim_.network().send(client_, piece);
      if (plan % 2 == 0) sim_.run_until_quiet();
    }
    sim_.run_until_quiet();
  }
  /// Shakes hands behind what was sent, and says the secret. A client takes the answer 'S' out of the records.
  void secure(testing::tls_peer& peer, std::string records, std::uint8_t plan) {
    bool has_answer = false;
    peer.says_when_connected = secret;
    for (int silent = 0; silent < 8;) {
      send(records, plan);
      std::string got = received();
      if (!has_answer && got.starts_with('S')) has_answer = true, got.erase(0, 1);
      peer.receive_records(got);
      (void)peer.connect();
      records = peer.take_records();
      if (!records.empty()) continue;
      ++silent;
      sim_.time().advance(std::chrono::milliseconds(5));  // a handshake tries again to send a long flight
    }
  }

 private:
  std::string received() {
    std::string all;
    for (std::string more; sim_.run_until_quiet(), !(more = sim_.network().receive(client_)).empty();) all += more;
    return all;
  }

  simulation sim_;
  std::optional<basic_server> server_;
  int client_ = -1;
};

template <class Handler>
void check(std::uint8_t how, std::uint8_t plan, bytes before, bytes behind) {
  inputs got;
  const bool shakes_hands = (how & 4U) != 0, sends_together = (how & 8U) != 0;
  {
    world w(plan, (how & 2U) != 0, Handler{&got});
    testing::tls_peer peer;
    (void)peer.connect();
    const std::string hello = peer.take_records();
    std::string first = std::string(before) + std::string(request);
    if (sends_together) first += behind;
    w.send(first, plan);
    if (!sends_together) w.send(behind, plan);
    if (shakes_hands) w.secure(peer, hello, plan);
  }
  require(got.asked, "the request has arrived");
  const std::string all = std::string(before) + std::string(request);
  require(got.plain == all.substr(0, all.find(request) + request.size()), "plain input ends with the request");
  const bool nothing_else = got.plain.size() == all.size() && behind.empty();
  require(got.secured == (shakes_hands && nothing_else ? secret : bytes()), "only what came by TLS follows");
}

}  // namespace

// The first byte chooses the flavour, a pool, a handshake, and whether the request and what follows are one send. The
// second plans the cuts, the third says how much comes before the request.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::uint8_t how = in.byte(), plan = in.byte();
  const bytes before = in.take(in.byte()), behind = in.rest().substr(0, 4000);
  (how & 1U) != 0 ? check<by_coroutine>(how, plan, before, behind) : check<by_callback>(how, plan, before, behind);
  return 0;
}
