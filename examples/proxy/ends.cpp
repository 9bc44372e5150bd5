// SPDX-License-Identifier: BSL-1.0
// ends: the search for a client's upstream, the PROXY header for it, and the counters.
#include "proxy/ends.hpp"

#include "proxy/upstreams.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace example::proxy {

using quintet::address;
using quintet::connection;
using quintet::severity;

namespace {

void count(std::atomic<std::uint64_t>& what) noexcept { what.fetch_add(1, std::memory_order_relaxed); }

quintet::proxied_end end_of(const address& a) {
  quintet::proxied_end end{.size = static_cast<std::uint8_t>(a.octets().size()), .port = a.port()};
  std::ranges::copy(a.octets(), end.octets.begin());
  return end;
}

/// Closes a client for which no upstream was found. Nothing has been sent to it.
void no_upstream(service& all, quintet::connection_registry& connections, quintet::connection_id client,
                 quintet::error_code why) {
  count(all.counts.unserved);
  all.no_upstream_lines.report(all.log, {severity::warning, "no upstream can be reached for a client", why},
                               quintet::clock::system().now());
  (void)connections.close(client);
}

}  // namespace

std::string header_for(const settings& s, const quintet::connection_ends& client) {
  return make_proxy_header(s.send, end_of(client.peer), end_of(client.local));
}

relay::relay(service& all, connection& c)
    : client(std::make_shared<relay_end>(all.options.window, all.counts.to_upstreams)),
      upstream(std::make_shared<relay_end>(all.options.window, all.counts.to_clients)),
      client_id(c.id()),
      loop_of_client(&c.loop()) {}

// ---- The client -----------------------------------------------------------------------------------------------------

void client_end::on_open(connection& c) {
  count(all_->counts.clients);
  count(all_->counts.open);
  find_upstream(c);
}

// In thread_per_connection the client's loop serves only the client. Then the main loop connects, and the model places
// the upstream's connection.
void client_end::find_upstream(connection& c) {
  relay_ = std::make_shared<relay>(*all_, c);
  if (all_->options.debug) report(all_->log, {severity::debug, "a client has connected", {}, c.peer_address()});
  const bool alone = c.loop().io().capabilities().single_stream;
  quintet::event_loop* const near = alone ? nullptr : &c.loop();
  quintet::event_loop& on = alone ? *all_->main : c.loop();
  on.post([&all = *all_, near, &on, &connections = c.registry(), r = relay_,
           header = std::exchange(header_, {})]() noexcept {
    const auto give_up = [&all, &connections, id = r->client_id](quintet::error_code why) {
      no_upstream(all, connections, id, why);
    };
    try {
      on.use<upstreams>().connect(
          all, [near, &all, give_up, r, header](quintet::error_code failed, quintet::stream_handle stream) {
            if (failed) return give_up(failed);
            all.attach(near, std::move(stream), upstream_end(all, r, header), give_up);
          });
    } catch (const std::bad_alloc&) {
      give_up(make_error_code(boost::system::errc::not_enough_memory));
    }
  });
}

void client_end::on_close(connection& c, quintet::error_code) {
  all_->counts.open.fetch_sub(1, std::memory_order_relaxed);
  if (relay_) relay_->client->closed(c);
}

// ---- The upstream ---------------------------------------------------------------------------------------------------

void upstream_end::on_open(connection& c) {
  count(all_->counts.relays);
  if (&c.loop() == relay_->loop_of_client) count(all_->counts.local);
  relay_->upstream->join(c, relay_->client_id, relay_->client);
  const auto gone = c.registry().post(
      relay_->client_id, [r = relay_, me = c.id(), header = std::move(header_)](connection& client) mutable {
        r->client->join(client, me, r->upstream, std::move(header));
      });
  if (gone) c.close();
}

void upstream_end::on_close(connection& c, quintet::error_code why) {
  report(all_->log, {severity::debug, "an upstream's connection is closed", why});
  relay_->upstream->closed(c);
}

}  // namespace example::proxy
