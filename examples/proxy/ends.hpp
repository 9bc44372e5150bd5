// SPDX-License-Identifier: BSL-1.0
// ends: the handlers of a relay's two connections: of the client, and of the upstream that was found for it.
#pragma once

#include "proxy/relay.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace example::proxy {

/// Both ends, until the last of them has gone.
struct relay {
  relay(service& all, quintet::connection& client);

  const std::shared_ptr<relay_end> client, upstream;
  const quintet::connection_id client_id;
  const quintet::event_loop* const loop_of_client;  // to compare with: it may be gone
};

class client_end {
 public:
  client_end(service& all, const quintet::connection_ends& ends) noexcept : all_(&all), ends_(ends) {}

  void on_open(quintet::connection& c);
  std::size_t operator()(quintet::connection& c, quintet::bytes in);
  void on_read_eof(quintet::connection& c);
  void on_close(quintet::connection& c, quintet::error_code why);

 private:
  std::size_t read_header(quintet::connection& c, quintet::bytes in);
  void find_upstream(quintet::connection& c);

  service* all_;
  quintet::connection_ends ends_;  // of the connection, or as the header says
  std::shared_ptr<relay> relay_;   // none before the header has come
};

class upstream_end {
 public:
  /// `header`: of the PROXY protocol, to be sent first.
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
