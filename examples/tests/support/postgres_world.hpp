// SPDX-License-Identifier: BSL-1.0
// postgres_world: a PostgreSQL server and its clients on a network and a clock in memory.
#pragma once

#include "postgres/session.hpp"

#include <quintet/net/simulation.hpp>
#include <quintet/threadmodels/server.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace example::test {

using namespace std::chrono_literals;
using namespace postgres;  // NOLINT: for tests only
using lines = std::vector<std::string>;

inline quintet::connection_limits small_limits() {
  quintet::connection_limits limits;
  limits.high_watermark = 64 * 1024;
  limits.low_watermark = 16 * 1024;
  limits.max_output = 128 * 1024;
  return limits;
}

/// A server with one session for each client. `set` changes its options.
class world {
 public:
  explicit world(
      std::uint64_t seed, const std::function<void(service&)>& set = [](service&) {})
      : sim_(seed), pooled_((set(all_), seed % 2 == 1)) {
    server_.start();
    sim_.drive(server_.main_loop());
  }
  ~world() {
    server_.stop();
    sim_.run_until_quiet();
    server_.finish();
    BOOST_TEST(all_.sessions == 0U);
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  quintet::testing::simulation& sim() { return sim_; }
  service& all() { return all_; }
  void drain() { server_.drain(10s), sim_.run_until_quiet(); }
  [[nodiscard]] bool has_finished() { return server_.main_loop().finished(); }

 private:
  quintet::testing::simulation sim_;
  service all_;
  bool pooled_;
  quintet::server server_{{.listen = {"127.0.0.1:7"},
                           .limits = small_limits(),
                           .make_engine = [this] { return sim_.network().make_engine(); },
                           .time = &sim_.time()},
                          quintet::testing::simulated_model(sim_, 2, pooled_),
                          session(all_)};
};

inline std::string to_line(quintet::bytes message) {
  const char type = message.front();
  message_reader in(message.substr(message_header));
  std::string line(1, type);
  if (type == 'Z') return line + ' ' + in.byte();
  if (type == 'C') return line + ' ' + in.string();
  if (type == 'R') return line + ' ' + std::to_string(in.int32());
  if (type == 'E' || type == 'N')
    for (char field = in.byte(); field != 0; field = in.byte()) {
      const std::string text = in.string();
      if (field != 'V' && field != 'M') line += ' ' + text;
    }
  if (type == 'D' || type == 't' || type == 'T') {
    for (int i = in.int16(); i > 0; --i) {
      if (type == 't') line += ' ' + std::to_string(in.int32());
      if (type == 'T') line += ' ' + in.string(), (void)in.take(18);
      if (type != 'D') continue;
      const std::int32_t size = in.int32();
      line += size < 0 ? " null" : ' ' + std::string(in.take(static_cast<std::size_t>(size)));
    }
  }
  return line;
}

/// A client, which logs in at once unless `logs_in` is false.
class client {
 public:
  explicit client(world& in, bool logs_in = true) : sim_(in.sim()), handle_(net().connect(7)) {
    if (logs_in) {
      send_raw(startup());
      greeting_ = receive();
    }
  }
  static std::string startup() {
    const std::string fields("\0\3\0\0user\0ann\0\0", 14);
    return std::string("\0\0\0\22", 4) + fields;
  }
  void send_raw(const std::string& data) {
    net().send(handle_, data);
    sim_.run_until_quiet();
  }
  template <class... Fields>
  void send(char type, const Fields&... fields) {
    message_writer out;
    out.message(type, fields...);
    send_raw(out.data());
  }
  /// Returns a line for each message that has arrived, without ParameterStatus.
  lines receive(std::size_t most = std::string::npos) {
    lines all;
    for (bool more = true; more;) {
      const std::string some = net().receive(handle_, most);
      more = !some.empty();
      received_ += some;
      sim_.run_until_quiet();
      for (auto found = codec_.parse(received_); found.is == quintet::frame::state::complete;
           found = codec_.parse(received_)) {
        if (found.message.front() == 'K') key_ = found.message.substr(message_header);
        if (found.message.front() != 'S') all.push_back(to_line(found.message));
        received_.erase(0, found.size);
      }
    }
    return all;
  }
  lines query(const std::string& sql) { return send('Q', sql), receive(); }
  void parse(const std::string& name, const std::string& sql) { send('P', name, sql, std::int16_t{0}); }
  void bind(const std::string& portal, const std::string& statement, const std::string& parameter = {}) {
    const auto count = static_cast<std::int16_t>(parameter.empty() ? 0 : 1);
    message_writer out;
    out.message('B', portal, statement, std::int16_t{0}, count);
    std::string message = out.data();
    if (count == 1) message += std::string("\0\0\0", 3) + static_cast<char>(parameter.size()) + parameter;
    message += std::string("\0\0", 2);
    message[4] = static_cast<char>(message.size() - 1);
    send_raw(message);
  }
  void execute(const std::string& portal, std::int32_t most = 0) { send('E', portal, most); }
  lines sync() { return send('S'), receive(); }
  /// Sends a CancelRequest over another connection, with the key of this session; `wrong`: with another key.
  void cancel(world& in, bool wrong = false) {
    std::string key = key_;
    if (wrong) ++key.back();
    client other(in, false);
    other.send_raw(std::string("\0\0\0\20\4\322\26\56", 8) + key);
    BOOST_TEST(other.receive().empty());
    BOOST_TEST(other.at_end());
  }
  [[nodiscard]] const lines& greeting() const { return greeting_; }
  [[nodiscard]] bool at_end() { return net().at_end(handle_); }
  void close() { net().close(handle_), sim_.run_until_quiet(); }
  std::string receive_raw() { return net().receive(handle_); }

 private:
  quintet::testing::memory_network& net() { return sim_.network(); }

  quintet::testing::simulation& sim_;
  int handle_;
  message_codec codec_{largest_message};
  std::string received_, key_;
  lines greeting_;
};

}  // namespace example::test
