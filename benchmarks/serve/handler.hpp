// SPDX-License-Identifier: BSL-1.0
// handler.hpp: the one handler of every workload: pay what a request costs, send it back.
#pragma once

#include "serve/compute.hpp"
#include "workloads.hpp"

#include <quintet/net/connection.hpp>

#include <cstddef>
#include <optional>
#include <thread>

namespace quintet::bench {

/// What all connections of a server share; only read once the server runs.
struct service {
  explicit service(workload w) : work(std::move(w)) {
    if (work.kind == work_kind::cpu || work.kind == work_kind::mixed) computing.emplace();
  }

  void pay_for(bytes message) const {
    if (!is_dear(work, message)) return;
    if (computing)
      computing->compute(work.cost);
    else
      std::this_thread::sleep_for(work.cost);
  }

  const workload work;
  std::optional<calibrated_work> computing;
};

class bench_handler {
 public:
  explicit bench_handler(const service& s) : service_(&s) {}

  std::size_t operator()(connection& c, bytes in) const {
    if (service_->work.kind == work_kind::echo) {
      c.write(in);
      return in.size();
    }
    const std::size_t whole = in.size() - in.size() % service_->work.message_bytes;
    for (std::size_t at = 0; at < whole; at += service_->work.message_bytes)
      service_->pay_for(in.substr(at, service_->work.message_bytes));
    c.write(in.substr(0, whole));
    return whole;
  }

 private:
  const service* service_;
};

}  // namespace quintet::bench
