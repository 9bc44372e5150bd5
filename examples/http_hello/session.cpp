// SPDX-License-Identifier: BSL-1.0
// session: requests in turn, and what ends a connection.
#include "session.hpp"

namespace http_hello {

std::size_t session::end(quintet::connection& c, bytes in, bytes reply) {
  c.write(reply);
  c.close();
  return in.size();
}

std::size_t session::operator()(quintet::connection& c, bytes in) {
  if (c.closing()) return in.size();
  for (std::size_t used = 0; used < in.size();) {
    switch (reader_->read(in.substr(used), used)) {
      case request_reader::progress::incomplete:
        if (reader_->take_continue()) c.write(replies::go_on);
        return used;
      case request_reader::progress::refused:
        return end(c, in, replies_.refusal(reader_->status()));
      case request_reader::progress::whole:
        const bool keep = reader_->keep_alive() && !c.draining();
        const bytes reply = replies_.to(*reader_, keep);
        if (!keep) return end(c, in, reply);
        c.write(reply);
        reader_.emplace(limits_);
    }
  }
  return in.size();
}

}  // namespace http_hello
