// SPDX-License-Identifier: BSL-1.0
// http_hello: serves 64 bytes over HTTP/1.1 or HTTPS, with Boost.Beast's parser, for curl, wrk and ab.
#include "session.hpp"

#include "common/options.hpp"
#include "common/tls_options.hpp"

#include <chrono>

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:8080"});
  http_hello::limits limits;
  std::size_t patience_s = 20, linger_s = 1;
  example::tls_files files;
  example::command_line line("http_hello",
                             "An HTTP server that answers every request with the same object of 64 bytes.");
  line.server(config);
  files.add_to(line);
  line.number("--max-header", limits.header, 64, 1024 * 1024, "largest request line with its fields, in bytes")
      .number("--max-body", limits.body, 0, 1024 * 1024 * 1024, "largest body of a request, in bytes; it is not used")
      .number("--patience", patience_s, 1, 3600, "time limit of a request, and of the wait for one, in seconds")
      .number("--linger", linger_s, 0, 60,
              "seconds that a closed connection waits for its client; 0: none, as nginx does it after a whole request")
      .try_it(
          "  http_hello --model loop_per_thread &\n  curl -i http://127.0.0.1:8080/\n"
          "  wrk -c 100 -d 5 http://127.0.0.1:8080/\n  ab -k -c 100 -n 100000 http://127.0.0.1:8080/")
      .parse(argc, argv);
  config.limits.max_input = http_hello::max_input(limits);
  config.limits.max_output = 32U << 20U;  // replies to the 4 MiB of pipelined requests that io_uring may have received
  config.limits.first_byte_timeout = config.limits.idle_timeout = config.limits.message_timeout =
      std::chrono::seconds(patience_s);
  example::set_send_timeout(config, std::chrono::seconds(patience_s));
  config.limits.linger_timeout = std::chrono::seconds(linger_s);
  try {
    if (const auto tls = files.context({"http/1.1"}))
      for (quintet::listen_options& l : config.listen) l.tls = tls;
    const http_hello::replies replies;
    quintet::server server(config, http_hello::session(replies, limits));
    example::serve("http_hello", config, server);
  } catch (...) {
    return example::report_exception("http_hello");
  }
}
