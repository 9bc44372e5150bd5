// SPDX-License-Identifier: BSL-1.0
// costs.hpp: the machine's costs for the simulation, in microseconds of CPU.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "forecast/sim_cores.hpp"
#include "report/models.hpp"

namespace quintet::bench::forecasting {

// The cost of waking a thread on a core, by the core's idle time. Linear between the points, constant beyond them.
class wake_curve {
 public:
  struct point {
    double idle = 0;
    wake_up cost;
  };
  void add(point p) { points_.push_back(p); }  // in ascending order of idle
  wake_up at(double idle) const;
  const std::vector<point>& points() const { return points_; }

 private:
  std::vector<point> points_;
};

// The cost of a request by the connections per core: with more of them, caches hold a smaller part. Linear in the
// logarithm of the connections between two points. Constant below, with the same slope above.
struct request_cost {
  static constexpr double few = 100, many = 1000;
  double at_few = 0, at_many = 0;

  double at(double connections) const;
};

struct model_costs {
  // Receive and send, in the loop; model 1: in the connection's thread. With a pool: the loop's share.
  request_cost loop;
  request_cost client;                   // the client's, by its connections
  double resume = 0, client_resume = 0;  // extra, for a thread that was woken on an idle core
  double wake_extra = 0;                 // extra latency of a wake-up through a socket, beyond the curve
  // Replaces `loop` for a request with an expensive handler, without the handler, at few connections.
  double expensive_loop = 0;
  // With a pool. Cheap batches are handed off together. An expensive one is alone, and its costs contain the handoff.
  double worker = 0;   // of the worker, for a cheap request
  double handoff = 0;  // of a joint handoff, both ways: half in the loop, half in the worker
  double expensive_worker = 0;
  bool known = false;  // false: none of these is measured
};

struct machine_costs {
  std::array<model_costs, model_names.size()> models;
  wake_curve wake;
  double work_factor = 1;  // CPU of a handler that should compute for one microsecond
  double turn = 0;         // asking the kernel for events
  double switch_cost = 0;  // from one thread to another
  double lock = 0;         // locking and unlocking an uncontended mutex
  double line = 0;         // moving a cache line from one core to another
  double accept = 0;       // the system call
  // Assumed, since two cores cannot show it.
  double slice = 3000;
  double lines = 6;         // of a handoff, each way, between cores
  double spread = 0.2;      // random variation of a request's cost, in both directions
  double spin_share = 0.5;  // of a line for each waiter, when a spin lock is passed on
  // An old kernel locked its shared queue for this multiple of accept(). It answered the SYN and created the socket
  // under the lock, and neither can be measured separately.
  double accept_locked = 2;
};

}  // namespace quintet::bench::forecasting
