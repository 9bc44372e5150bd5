// SPDX-License-Identifier: BSL-1.0
// service_host: a running server of the test service, for any model and flavour.
#pragma once

#include "client.hpp"
#include "combination.hpp"
#include "service.hpp"

#include <quintet/net/connection/connection_registry.hpp>
#include <quintet/net/options/limits.hpp>
#include <quintet/net/server/server_statistics.hpp>
#include <quintet/threadmodels/compute/worker_pool.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace quintet::test {

inline constexpr unsigned host_loops = 2;
inline constexpr worker_limits host_workers{2, 4};

/// The options that tests vary.
struct host_options {
  service_options service = {};
  bool with_priority_port = false;
  connection_limits limits = {};
  bool stop_before_run = false;
  worker_limits workers = host_workers;
  duration spin = duration::zero();
};

class service_host {
 public:
  virtual ~service_host() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual std::uint16_t priority_port() const = 0;
  [[nodiscard]] virtual server_statistics statistics() const = 0;
  [[nodiscard]] virtual connection_registry& connections() noexcept = 0;
  virtual void stop() noexcept = 0;
  virtual void drain() = 0;
  /// Waits until run() has returned.
  virtual void join() = 0;

  /// Connects over TCP, or by the environment variable QUINTET_TEST_ROUTE: "shared_memory", "filter" (toy_filter),
  /// "filter_over_shared_memory", or "tls". Over shared memory, options of sockets have no effect.
  [[nodiscard]] client connect(const client_options& options = {}) const;
  [[nodiscard]] observer& seen() noexcept { return context_.seen; }
  [[nodiscard]] gate& block() noexcept { return context_.block; }

 protected:
  std::string memory_at_;     // the address of shared memory, if that is the route
  bool speaks_tls_ = false;   // each connection
  bool is_filtered_ = false;  // both ends of each connection have a toy_filter
  service_context context_;
};

std::unique_ptr<service_host> make_host(combination c, const host_options& options = {});

}  // namespace quintet::test
