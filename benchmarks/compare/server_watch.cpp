// SPDX-License-Identifier: BSL-1.0
// server_watch.cpp: samples and counters around a measured window.
#include "compare/server_watch.hpp"

namespace quintet::bench {

server_watch::server_watch(pid_t server, bool counting) : server_(server), idle_(sample_server(server)) {
  if (counting) counter_.emplace(server);
}

void server_watch::begin() {
  before_ = sample_server(server_);
  if (counter_) counted_before_ = counter_->read();
}

void server_watch::end() {
  after_ = sample_server(server_);
  if (counter_) counted_after_ = counter_->read();
}

void server_watch::fill(run_result& result, double window_s) const {
  fill_server_figures(result, server_, before_, after_, window_s);
  const double requests = result.requests.value_or(0);
  if (!counter_ || requests <= 0) return;
  const double windows = window_s / seconds() / requests;
  result.syscalls_per_request = static_cast<double>(counted_after_.all - counted_before_.all) * windows;
  result.futex_per_request = static_cast<double>(counted_after_.futex - counted_before_.futex) * windows;
}

}  // namespace quintet::bench
