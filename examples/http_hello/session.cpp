// SPDX-License-Identifier: BSL-1.0
// session: answers requests in order, and decides when a connection ends.
#include "session.hpp"

#include <chrono>

namespace http_hello {

// A client that may still be sending gets time to read the reply, even with --linger 0.
std::size_t session::end(quintet::connection& c, bytes in, bool more_may_come) {
  if (auto limits = c.limits(); more_may_come && limits.linger_timeout == quintet::duration::zero()) {
    limits.linger_timeout = std::chrono::seconds(1);
    c.set_limits(limits);
  }
  c.close();
  return in.size();
}

std::size_t session::operator()(quintet::connection& c, bytes in) {
  if (c.closing()) return in.size();
  bool has_ended_one = false;
  for (std::size_t used = 0; used < in.size();) {
    switch (reader_->read(in.substr(used), used)) {
      case request_reader::progress::incomplete:
        c.mark_incomplete(has_ended_one);  // the reader consumes partial headers and bodies
        if (reader_->take_continue()) c.write(replies::go_on);
        return used;
      case request_reader::progress::refused:
        replies_.write_refusal(c, reader_->status());
        return end(c, in, true);
      case request_reader::progress::whole:
        const bool keep = reader_->keep_alive() && !c.draining();
        replies_.write(c, *reader_, keep);
        if (!keep) return end(c, in, used < in.size());
        reader_.emplace(limits_);
        has_ended_one = true;
    }
  }
  return in.size();
}

}  // namespace http_hello
