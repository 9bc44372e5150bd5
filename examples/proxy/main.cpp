// SPDX-License-Identifier: BSL-1.0
// proxy: a TCP relay with the PROXY protocol, or a server of one page, like Fastsocket's demo server, in any model.
#include "proxy/command.hpp"
#include "proxy/ends.hpp"
#include "proxy/fixed_reply.hpp"
#include "proxy/report.hpp"

#include "common/options.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace example::proxy;

/// Prints statistics while the server's main loop runs.
template <class Server>
void report_each_second(Server& server, const command& c, const totals* relays) {
  if (!c.verbose) return;
  const bool each_loop = c.config.model != quintet::model::thread_per_connection;
  auto last = std::make_shared<sample>(take_sample(server, relays, each_loop));
  server.main_loop().every(std::chrono::seconds(1), [&server, relays, each_loop, last] {
    sample now = take_sample(server, relays, each_loop);
    std::fputs(lines_between(*last, now, relays).c_str(), stdout);
    std::fflush(stdout);
    *last = std::move(now);
  });
}

void serve_page(const command& c) {
  quintet::server server(c.config, fixed_reply{c.keep_alive});
  report_each_second(server, c, nullptr);
  example::serve("proxy", c.config, server);
}

template <class Server>
void drain_when_relays_have_ended(Server& server, service& all) {
  const auto deadline = server.main_loop().now() + example::drain_time;
  server.main_loop().every(std::chrono::milliseconds(10), [&server, &all, deadline, told = false]() mutable {
    if (told || (all.counts.open.load() > 0 && server.main_loop().now() < deadline)) return;
    told = true;
    server.drain(std::chrono::seconds(1));
  });
}

/// Stops listening and gives relays `drain_time` to finish, then drains. An immediate drain would cut replies off: the
/// server cannot know whether an upstream still owes one.
template <class Server>
void begin_to_end(Server& server, service& all) {
  all.draining.store(true);
  server.stop_listening();
  server.main_loop().post([&server, &all] { drain_when_relays_have_ended(server, all); });  // its time begins then
}

/// `make`: makes the handler of a client.
template <class F>
void serve_relays(const command& c, service& all, F make) {
  quintet::config config = c.config;
  config.accepting.on_refused = [&all](quintet::error_code why, const quintet::address&) {
    if (why == quintet::errc::malformed_proxy_header || why == quintet::errc::missing_proxy_header)
      all.counts.bad_headers.fetch_add(1, std::memory_order_relaxed);
    return std::string();
  };
  quintet::server server(config, quintet::handler_factory(make));
  all.main = &server.main_loop();
  all.attach = [&server](quintet::event_loop* near, quintet::stream_handle stream, upstream_end end, auto refused) {
    server.attach(near, std::move(stream), std::move(end), std::move(refused));
  };
  report_each_second(server, c, &all.counts);
  const quintet::signal_guard on_signals(server.main_loop(), {SIGINT, SIGTERM}, [&] { begin_to_end(server, all); });
  example::run("proxy", c.config, server);
}

void serve_relays(const command& c) {
  service all;  // before the server, whose connections use it until they are destroyed
  all.options = c.relaying;
  all.log = c.config.log;
  if (all.options.send == quintet::proxy_version::none)
    return serve_relays(c, all, [&all] { return client_end(all, {}); });
  serve_relays(c, all,  // asks for the addresses, two system calls for each client
               [&all](const quintet::connection_ends& ends) { return client_end(all, header_for(all.options, ends)); });
}

}  // namespace

int main(int argc, char** argv) {
  const command c = parse(argc, argv);
  try {
    if (c.relaying.upstreams.empty())
      serve_page(c);
    else
      serve_relays(c);
  } catch (...) {
    return example::report_exception("proxy");
  }
}
