// SPDX-License-Identifier: BSL-1.0
// ends: the handlers of a relay's two connections, to the client and to its upstream.
#pragma once

#include "proxy/relay.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace example::proxy {

/// Both ends of a relay; lives until the last of them is destroyed.
struct relay {
  relay(service& all, quintet::connection& client);

  const std::shared_ptr<relay_end> client, upstream;
  const quintet::connection_id client_id;
  const quintet::event_loop* const loop_of_client;  // only compared: the loop may be destroyed
};

/// Returns the PROXY header for a client's upstream; empty: none is sent.
[[nodiscard]] std::string header_for(const settings& s, const quintet::connection_ends& client);

class client_end {
 public:
  /// `header`: a PROXY header for its upstream.
  client_end(service& all, std::string header) noexcept : all_(&all), header_(std::move(header)) {}

  void on_open(quintet::connection& c);
  void operator()(quintet::connection& c, quintet::bytes in) { relay_->client->forward(c, in); }
  void on_read_eof(quintet::connection& c) { relay_->client->read_eof(c); }
  void on_close(quintet::connection& c, quintet::error_code why);

 private:
  void find_upstream(quintet::connection& c);

  service* all_;
  std::string header_;            // until on_open
  std::shared_ptr<relay> relay_;  // since on_open
};

class upstream_end {
 public:
  /// `header`: a PROXY header, sent before everything else.
  upstream_end(service& all, std::shared_ptr<relay> r, std::string header) noexcept
      : all_(&all), relay_(std::move(r)), header_(std::move(header)) {}

  void on_open(quintet::connection& c);
  void operator()(quintet::connection& c, quintet::bytes in) { relay_->upstream->forward(c, in); }
  void on_read_eof(quintet::connection& c) { relay_->upstream->read_eof(c); }
  void on_close(quintet::connection& c, quintet::error_code why);

 private:
  service* all_;
  std::shared_ptr<relay> relay_;
  std::string header_;
};

}  // namespace example::proxy
