// SPDX-License-Identifier: BSL-1.0
// service_host: one class for each flavour.
#include "service_host.hpp"

#include <quintet/threadmodels/server.hpp>

#include "../../../net/tests/support/toy_filter.hpp"
#include "asio_service.hpp"
#include "filtered.hpp"
#include "running.hpp"
#include "shared_memory.hpp"
#ifdef QUINTET_TEST_TLS
#include "tls/tls_client.hpp"
#endif

#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace quintet::test {
namespace {

/// Calls stop() before run() if `stop_now` is true.
template <class Handler>
class prepared_server : public server {
 public:
  prepared_server(const config& c, Handler h, bool stop_now) : server(c, h) {
    if (stop_now) this->stop();
  }
};

template <class Handler>
class host final : public service_host {
 public:
  host(model kind, const host_options& o) {
    context_.options = o.service;
    context_.stop_server = [this] { server_->stop(); };
    server_.emplace(with_route(configuration(kind, o)), Handler(context_), o.stop_before_run);
  }
  ~host() override { context_.block.open(); }

  std::uint16_t port() const override { return server()->port(); }
  std::uint16_t priority_port() const override { return server()->priority_port(); }
  server_statistics statistics() const override { return server()->statistics(); }
  connection_registry& connections() noexcept override { return (*server_)->connections(); }
  void stop() noexcept override { server_->stop(); }
  void drain() override { (*server_)->drain(patience); }
  void join() override { server_->join(); }

 private:
  using running_server = running<prepared_server<Handler>>;

  static config configuration(model kind, const host_options& o) {
    config c{.model = kind,
             .threads = {.loops = host_loops, .workers = o.workers},
             .limits = o.limits,
             .advanced = {.loop = {.spin = o.spin}}};
    if (o.with_priority_port) c.listen = {"0.0.0.0:0", {"0.0.0.0:0", {.priority = true}}};
    return c;
  }
  config with_route(config c) {
    const char* const given = std::getenv("QUINTET_TEST_ROUTE");
    const std::string_view route = given ? given : "";
    if (route.ends_with("shared_memory")) {
      memory_at_ = fresh_unix_address();
      // Some clients send before they read, as much as the buffers of sockets take.
      const shared_memory_options memory{.ring_size = 1024 * 1024};
      c.listen.push_back({memory_at_, {.upgrade = connection_upgrade::shared_memory, .shared_memory = memory}});
    }
    is_filtered_ = route.starts_with("filter");
    if (is_filtered_)
      for (listen_options& l : c.listen)
        if (!l.priority) l.carry = testing::carry_toy_filter;
#ifdef QUINTET_TEST_TLS
    speaks_tls_ = route == "tls";
    if (speaks_tls_)
      for (listen_options& l : c.listen)
        if (!l.priority) l.tls = any_tls(), l.handshakes.timeout = patience;  // a thousand at once, on a loaded machine
#endif
    return c;
  }
  running_server& server() const { return *server_; }

  mutable std::optional<running_server> server_;
};

}  // namespace

client service_host::connect(const client_options& options) const {
  client c = memory_at_.empty() ? client(port(), options) : client_over_shared_memory(memory_at_);
#ifdef QUINTET_TEST_TLS
  if (speaks_tls_) return over_tls(std::move(c));
#endif
  return is_filtered_ ? filtered(std::move(c)) : std::move(c);
}

std::unique_ptr<service_host> make_host(combination c, const host_options& options) {
  if (c.style == flavour::asio) return std::make_unique<host<asio_service>>(c.kind, options);
  if (c.style == flavour::coroutine) return std::make_unique<host<coroutine_service>>(c.kind, options);
  return std::make_unique<host<callback_service>>(c.kind, options);
}

}  // namespace quintet::test
