// SPDX-License-Identifier: BSL-1.0
// handler.hpp: the one handler of every workload: pay what a request costs, send it back, or what it asks for.
#pragma once

#include "serve/compute.hpp"
#include "workloads.hpp"

#include <quintet/net/connection.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
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

  std::size_t operator()(connection& c, bytes in) {
    if (service_->work.kind == work_kind::echo) {
      c.write(in);
      return in.size();
    }
    const std::size_t size = service_->work.message_bytes;
    const std::size_t whole = in.size() - in.size() % size;
    for (std::size_t at = 0; at < whole; at += size)
      service_->work.kind == work_kind::ask ? answer(c, in.substr(at, size)) : service_->pay_for(in.substr(at, size));
    if (service_->work.kind != work_kind::ask) c.write(in.substr(0, whole));
    return whole;
  }
  void on_writable(connection& c) { write_on(c); }

 private:
  void answer(connection& c, bytes message) {
    const char* const connection = message.data();
    const char* const sequence = connection + 4;
    if (load_big_endian(connection) != asking_connection)
      c.write(message);
    else
      left_ += load_big_endian(sequence), write_on(c);
  }

  /// In pieces, as a handler would that reads a file.
  void write_on(connection& c) {
    static const std::string piece(16 * 1024, 'q');
    for (; left_ > 0 && c.writable(); left_ -= std::min(left_, piece.size())) c.write(bytes(piece).substr(0, left_));
  }

  const service* service_;
  std::size_t left_ = 0;  // of replies in the workload `ask`
};

}  // namespace quintet::bench
