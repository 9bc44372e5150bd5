// SPDX-License-Identifier: BSL-1.0
// session: carries out the requests of a batch, and keeps what it cannot carry out yet.
#include "session.hpp"

#include <algorithm>
#include <utility>

namespace kv {

// The session keeps postponed requests. The connection would offer them again only when more input arrives, so a client
// that has sent all of its requests would wait forever.
std::size_t session::operator()(quintet::connection& c, bytes in) {
  if (!put_off_.empty()) {
    put_off_.erase(0, std::exchange(put_off_used_, 0));
    put_off_.append(in);
    carry_out_put_off(c);
    return in.size();
  }
  const progress made = carry_out(c, in);
  if (!made.full) return made.used;
  put_off_.assign(in.substr(made.used));
  c.count_kept_input(put_off_.capacity());
  return in.size();
}

void session::on_writable(quintet::connection& c) { carry_out_put_off(c); }

void session::carry_out_put_off(quintet::connection& c) {
  const progress made = carry_out(c, bytes(put_off_).substr(put_off_used_));
  put_off_used_ += made.used;
  if (put_off_used_ == put_off_.size()) {
    std::string().swap(put_off_);
    put_off_used_ = 0;
  } else if (!made.full) {
    c.mark_incomplete(made.any);  // the connection itself holds no unused input
  }
  c.count_kept_input(put_off_.capacity());
}

// Checks writable() after each 16 KiB of replies, not after each reply.
session::progress session::carry_out(quintet::connection& c, bytes in) {
  constexpr std::size_t between_looks = 16 * 1024;
  replies to(c, client_);
  for (progress made;; made.used += parser_.used(), made.any = true) {
    if (to.written() >= between_looks) {
      to.begin_again();
      if (made.full = !c.writable(); made.full) return made;
    }
    switch (parser_.parse(in.substr(made.used))) {
      case outcome::incomplete:
        return made;
      case outcome::malformed:
        to.write("-ERR ");
        to.write(parser_.error());
        to.write("\r\n");
        c.close();
        return {.used = in.size()};
      case outcome::request:
        if (parser_.arguments().empty()) break;
        if (execute(store_, parser_.arguments(), to, log_) == after::close) return {.used = in.size()};
    }
  }
}

void set_sizes(quintet::connection_limits& each, quintet::memory_limits& all, const limits& l) {
  each.max_input = max_input(l);
  each.max_output = max_output(l, each.high_watermark);
  all.max_input_total = std::max(all.max_input_total, 4 * each.max_input);
  all.max_output_total = std::max(all.max_output_total, 4 * each.max_output);
}

}  // namespace kv
