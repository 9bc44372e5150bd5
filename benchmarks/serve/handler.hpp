// SPDX-License-Identifier: BSL-1.0
// handler.hpp: the handler of all workloads: spends a request's
// cost, then sends the reply. Also a coroutine that only echoes.
#pragma once

#include "piece_stream.hpp"
#include "serve/compute.hpp"
#include "workloads.hpp"

#include <quintet/net/framed.hpp>
#include <quintet/net/stream.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>

namespace quintet::bench {

/// State shared by all connections of a server. Read-only once the server runs.
struct service {
  explicit service(workload w, count_range piece_sizes = piece_stream::default_sizes, bool merging = true,
                   bool sharing = false)
      : work(std::move(w)), merges(merging), shares(sharing) {
    if (work.kind == work_kind::ask) pieces.emplace(piece_sizes);
    if (work.kind == work_kind::cpu || work.kind == work_kind::mixed) computing.emplace();
  }

  void pay_for(bytes message) const {
    if (!is_expensive(work, message)) return;
    if (computing)
      computing->compute(work.cost);
    else
      std::this_thread::sleep_for(work.cost);
  }

  const workload work;
  const bool merges;  // true: the connection merges pieces of a reply; false: flushes each piece
  const bool shares;  // writes whole pieces as shared bytes, subject to connection_limits::merge_threshold
  std::optional<calibrated_work> computing;
  std::optional<piece_stream> pieces;  // set for the workload `ask`
};

class bench_handler {
 public:
  explicit bench_handler(const service& s) : service_(&s) {}

  // The other workloads are a function of their own: their frame would cost an echo 40 instructions.
  std::size_t operator()(connection& c, bytes in) {
    if (service_->work.kind != work_kind::echo) [[unlikely]]
      return serve(c, in);
    c.write(in);
    return in.size();
  }
  void on_writable(connection& c) { write_on(c); }
  std::size_t on_overload(connection& c, bytes in) {
    // Replies of these kinds cost no more than a rejection.
    const auto kind = service_->work.kind;
    if (kind == work_kind::ask || kind == work_kind::timestamp) return (*this)(c, in);
    const std::size_t size = service_->work.message_bytes;
    std::string replies(in.substr(0, in.size() - in.size() % size));
    for (std::size_t at = 0; at < replies.size(); at += size)
      replies[at] = static_cast<char>(static_cast<unsigned char>(replies[at]) ^ shed_mark);
    c.write(replies);
    return replies.size();
  }

 private:
  [[gnu::noinline]] std::size_t serve(connection& c, bytes in) {
    if (service_->work.kind == work_kind::timestamp) return add_one(c, in);
    const std::size_t size = service_->work.message_bytes;
    const std::size_t whole = in.size() - in.size() % size;
    for (std::size_t at = 0; at < whole; at += size)
      service_->work.kind == work_kind::ask ? answer(c, in.substr(at, size)) : service_->pay_for(in.substr(at, size));
    if (service_->work.kind != work_kind::ask) c.write(in.substr(0, whole));
    return whole;
  }
  static std::size_t add_one(connection& c, bytes in) {
    std::array<char, 512 * header_bytes> replies;
    const std::size_t whole = in.size() - in.size() % header_bytes;
    for (std::size_t at = 0; at < whole;) {
      const bytes part = in.substr(at, std::min(whole - at, replies.size()));
      for (std::size_t i = 0; i < part.size(); i += header_bytes)
        store_big_endian_64(replies.data() + i, load_big_endian_64(part.data() + i) + 1);
      c.write({replies.data(), part.size()});
      at += part.size();
    }
    return whole;
  }

  void answer(connection& c, bytes message) {
    const char* const connection = message.data();
    const char* const sequence = connection + 4;
    if (load_big_endian(connection) == asking_connection) {
      left_ += load_big_endian(sequence);
      return write_on(c);
    }
    c.write(message);
    if (!service_->merges) c.flush();
  }

  /// Writes the reply in pieces, as a handler that reads a file or sends many messages to a subscriber would.
  void write_on(connection& c) {
    while (left_ > 0 && c.writable()) {
      const shared_bytes& whole = service_->pieces->shared_piece(next_piece_);
      const bytes piece = bytes(*whole).substr(in_piece_, left_);
      service_->shares&& piece.size() == whole->size() ? c.write(whole) : c.write(piece);
      left_ -= piece.size();
      in_piece_ += piece.size();
      if (in_piece_ == whole->size()) {
        ++next_piece_;
        in_piece_ = 0;
      }
      if (!service_->merges) c.flush();
    }
  }

  const service* service_;
  std::size_t left_ = 0;  // unsent reply bytes in the workload `ask`
  std::size_t next_piece_ = 0;
  std::size_t in_piece_ = 0;  // bytes of it that the last reply took
};

/// The handler of the workload `framed`, behind its codec.
struct framed_echo {
  using codec = length_prefix<prefix_bytes(work_kind::framed)>;
  void operator()(connection& c, bytes message) const {
    if (const error_code ec = write_message(c, codec(), message)) c.close(ec);
  }
};

inline awaitable<> echo_coroutine(stream& s) {
  while (const auto in = co_await s.read()) s.write(*in);
}

}  // namespace quintet::bench
