// SPDX-License-Identifier: BSL-1.0
// filter_port: a stream with a filter that an engine serves.
#pragma once

#include "../closing_stream.hpp"
#include "../engine.hpp"
#include "carried_filter.hpp"

#include <cstddef>
#include <utility>

namespace quintet {

class filtering_engine;

/// Between the stream that it serves and its records, which are a stream of the inner engine. A port whose stream was
/// closed before its last records could be sent serves nobody, and sends these. All functions: [loop].
class filter_port final : public stream_channel {
 public:
  filter_port(filtering_engine& owner, stream_channel* served, stream_handle&& stream) noexcept
      : owner_(owner), served_(served), stream_(std::move(stream)) {}

  /// Begins to watch. After a failure release() gives the stream back.
  error_code start() noexcept;
  /// Stops watching, and gives the stream back. The engine destroys the port in its next turn.
  [[nodiscard]] stream_handle release() noexcept;

  [[nodiscard]] engine::send_result send(bytes data) noexcept;
  [[nodiscard]] engine::send_result send(output_pieces pieces) noexcept;
  void shutdown_send() noexcept;
  error_code set_reading(bool on) noexcept;
  /// The measure is the position in the records.
  [[nodiscard]] arrival arrived() noexcept;
  [[nodiscard]] bool has_more(const arrival& by) noexcept;
  [[nodiscard]] std::size_t unsent() noexcept;
  /// Sends and delivers what waits in the state, for which the inner engine raises no event.
  void serve() noexcept;
  /// The engine calls serve() in the next turn, and clears this before.
  bool is_due = false;

  /// Serves nobody: sends the waiting records and the last one. Returns whether some wait; a time limit begins.
  [[nodiscard]] bool begin_closing() noexcept;
  /// Call it at the deadline. Returns whether the peer has taken nothing. Otherwise the limit begins again.
  [[nodiscard]] bool gives_up() noexcept;
  [[nodiscard]] time_point deadline() const noexcept { return deadline_; }

 private:
  void on_received(bytes arrived) override;
  void on_receive_end(error_code reason) override;
  void on_sendable() override;
  void on_send_failed(error_code reason) override;
  void on_peer_finished() override {
    if (served_) served_->on_peer_finished();
  }
  [[nodiscard]] duration longest_send() const noexcept override;

  [[nodiscard]] carried_filter& state() const noexcept { return *carried_filter::of(stream_); }
  void deliver(bytes fresh);
  void report_end();
  [[nodiscard]] int send_records(bytes records) noexcept;
  [[nodiscard]] int send_waiting() noexcept;
  [[nodiscard]] bool is_closing() const noexcept { return !served_; }
  void wait_for_room() noexcept;

  filtering_engine& owner_;
  stream_channel* served_;
  stream_handle stream_;  // without what is below the filter, which the inner engine has
  closing_stream closing_;
  time_point deadline_ = time_point::max();
  bool reading_ = true;
  bool promised_ = false;      // on_sendable() follows
  bool end_reported_ = false;  // by on_receive_end()
  bool inner_ended_ = false;
};

}  // namespace quintet
