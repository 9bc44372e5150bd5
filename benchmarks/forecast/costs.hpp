// SPDX-License-Identifier: BSL-1.0
// costs.hpp: what the simulation has to know of a machine: how long each thing takes, in microseconds of CPU.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "forecast/sim_cores.hpp"
#include "report/models.hpp"

namespace quintet::bench::forecasting {

// Waking a thread on a core that has been idle for so long. Between the points linear, beyond them the same.
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

// Of a request, by how many connections a core serves: more of them fit its caches less. Between the two points linear
// in the logarithm of the connections; the same below, and the same slope above.
struct request_cost {
  static constexpr double few = 100, many = 1000;
  double at_few = 0, at_many = 0;

  double at(double connections) const;
};

struct model_costs {
  request_cost
      loop;  // receive and send, in the loop; model 1: in the connection's thread. With a pool: the loop's share
  request_cost client;                   // the client's, by its connections
  double resume = 0, client_resume = 0;  // more, for a thread that was woken on an idle core
  double wake_extra = 0;                 // latency of a wake-up through a socket, beyond that of the curve
  double dear_loop =
      0;  // in place of `loop`, at few connections: of a request whose handler computes, beside the handler
  // With a pool. Cheap batches go together; a dear one goes alone, and its costs contain the hand-over.
  double worker = 0;     // of the worker, for a cheap request
  double hand_over = 0;  // of those that go together, there and back: half with the loop, half with the worker
  double dear_worker = 0;
  bool known = false;  // none of these is measured where this is false
};

struct machine_costs {
  std::array<model_costs, model_names.size()> models;
  wake_curve wake;
  double work_factor = 1;  // CPU of a handler that is to compute for one microsecond
  double turn = 0;         // asking the kernel for events
  double switch_cost = 0;  // from one thread to another
  double lock = 0;         // taking and releasing a mutex that nobody else wants
  double line = 0;         // a cache line from one core to another
  double accept = 0;       // the system call
  // Assumed, since two cores cannot tell.
  double slice = 3000;
  double lines = 6;         // of a hand-over, each way, when it crosses cores
  double spread = 0.2;      // a request's cost varies by so much in both directions
  double spin_share = 0.5;  // of a line for each waiter, when a spin lock passes on
  // How many times as long as accept() takes a connection kept an old kernel's shared queue locked: that answered the
  // SYN and made the socket under its lock, neither of which can be measured by itself.
  double accept_locked = 2;
};

}  // namespace quintet::bench::forecasting
