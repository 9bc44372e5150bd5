// SPDX-License-Identifier: BSL-1.0
// limits.cpp: the limit options of `serve` and their effect on the configuration.
#include "serve/limits.hpp"

#include "command_line.hpp"
#include "piece_stream.hpp"

#include <algorithm>

namespace quintet::bench {

void serve_limits::apply(config& to) const {
  connection_limits& each = to.limits;
  if (message_timeout) each.message_timeout = std::chrono::duration_cast<duration>(*message_timeout);
  each.max_output = max_output.value_or(each.max_output);
  each.high_watermark = std::min(high_watermark.value_or(each.high_watermark), each.max_output);
  each.low_watermark = std::min(each.low_watermark, each.high_watermark / 2);
  each.merge_threshold = merge_threshold.value_or(each.merge_threshold);
  to.memory.max_output_total = max_output_total.value_or(to.memory.max_output_total);
  to.threads.max_threads = max_threads.value_or(to.threads.max_threads);
  to.accepting.max_connections = max_connections.value_or(to.accepting.max_connections);
  to.advanced.loop.receive_size = receive_size.value_or(to.advanced.loop.receive_size);
  to.memory.tuned_sockets = tuned_sockets.value_or(to.memory.tuned_sockets);
}

void add_limit_options(CLI::App& app, serve_limits& limits) {
  const auto bytes = number_in<std::size_t>(1);
  add_parsed(app, "--files", limits.files, number_in<std::size_t>(16),
             "open at most this many descriptors (ulimit -Hn)")
      ->type_name("N");
  add_parsed(app, "--max-connections", limits.max_connections, number_in<std::size_t>(0),
             "stop accepting while this many connections are open; 0: no limit (0)")
      ->type_name("N");
  add_parsed(app, "--max-threads", limits.max_threads, number_in<std::size_t>(1),
             "model 1: largest number of threads (4096, or enough for the workload)")
      ->type_name("N");
  add_parsed(app, "--message-timeout", limits.message_timeout, parse_duration,
             "time limit from the first byte of a message to its last; 0: no limit (0)")
      ->type_name("S");
  add_parsed(app, "--max-output", limits.max_output, bytes, "bytes of output that may be queued for one connection")
      ->type_name("BYTES");
  add_parsed(app, "--max-output-total", limits.max_output_total, bytes, "the same for all connections together")
      ->type_name("BYTES");
  add_parsed(app, "--receive-size", limits.receive_size, size_in(1, 64 * 1024),
             "bytes that one receive call takes at most (64k)")
      ->type_name("BYTES");
  add_parsed(app, "--tuned-sockets", limits.tuned_sockets, number_in<std::size_t>(0),
             "number of connections beyond which socket buffers are bounded")
      ->type_name("N");
  add_parsed(app, "--high-watermark", limits.high_watermark, number_in<std::size_t>(0),
             "bytes of queued output above which a connection's input pauses; it resumes below half of that")
      ->type_name("BYTES");
  add_parsed(app, "--merge-threshold", limits.merge_threshold, size_in(1, piece_stream::largest * 2),
             "workload ask: pieces of fewer bytes are copied into one buffer, others are sent from where they are (4k)")
      ->type_name("BYTES");
}

}  // namespace quintet::bench
