// SPDX-License-Identifier: BSL-1.0
// filtering_engine: serves streams that carry a filter, above any other engine.
#pragma once

#include "../decorating_engine.hpp"
#include "filter_port.hpp"

#include <memory>
#include <span>
#include <vector>

namespace quintet {

/// A decorator: passes on every handle but those that carry a filter. Their records travel over what the inner engine
/// serves, sockets or shared memory. Bytes that wait in a filter raise no event, so the engine keeps a list of ports
/// that are due in the next turn, which then does not wait. Thread tags as in engine.
class filtering_engine final : public decorating_engine<filter_port> {
 public:
  explicit filtering_engine(std::unique_ptr<engine> inner) : decorating_engine(std::move(inner)) {}
  ~filtering_engine() override;
  filtering_engine(const filtering_engine&) = delete;
  filtering_engine& operator=(const filtering_engine&) = delete;

  bool poll(duration longest) override;
  error_code add(channel& c, stream_handle&& stream) override;
  void flush(flush_extent extent) noexcept override;
  void close(stream_handle&& stream) noexcept override;

  // [loop] For ports.
  using decorating_engine::inner;
  error_code watch(filter_port& p, stream_handle&& records) noexcept;
  /// Calls serve() of the port in the next turn.
  void make_due(filter_port& p) noexcept;
  /// A closed stream has nothing more to send, or cannot.
  void end_closing(filter_port& p) noexcept;
  // Memory that all ports share; valid until another port is called.
  [[nodiscard]] std::span<char> place_for_plain() const noexcept { return {plain_.get(), receive_limit()}; }
  [[nodiscard]] std::span<char> place_for_records() const noexcept {
    return {records_.get(), carried_filter::most_waiting};
  }
  [[nodiscard]] std::span<char> place_to_merge() const noexcept { return {merged_.get(), most_merged}; }

 private:
  static constexpr std::size_t most_merged = 16 * 1024;

  [[nodiscard]] int descriptor() noexcept override;
  stream_handle detach(filter_port& p) noexcept override;
  bool poll_with_chores(duration longest);
  void make_places();
  error_code add_port(stream_channel& c, stream_handle&& stream);
  bool serve_due();
  [[nodiscard]] bool keep_until_sent(stream_handle& stream) noexcept;
  void close_now(stream_handle&& stream) noexcept;
  void finish_closing() noexcept;
  void drop_closing() noexcept;
  void end_silent() noexcept;

  std::unique_ptr<char[]> plain_, records_, merged_;
  std::vector<filter_port*> due_, serving_;            // nullptr: removed meanwhile
  std::vector<std::unique_ptr<filter_port>> closing_;  // those that are not watched are destroyed in the next turn
  std::size_t open_ = 0;                               // of closing_: watched
  time_point next_deadline_ = time_point::max();       // of closing_; may be too early
};

}  // namespace quintet
