// SPDX-License-Identifier: BSL-1.0
// watched_engine: an engine that hands everything on to another one, and notes what it is given to send.
#pragma once

#include <quintet/net/engine/engine.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quintet::testing {

class watched_engine final : public engine {
 public:
  /// Each piece that was offered, in order.
  using journal = std::vector<bytes>;

  watched_engine(std::unique_ptr<engine> of, journal& offered) : of_(std::move(of)), offered_(&offered) {}

  [[nodiscard]] std::string_view name() const noexcept override { return of_->name(); }
  bool poll(duration longest) override { return of_->poll(longest); }
  void wake() noexcept override { of_->wake(); }
  [[nodiscard]] int pollable() noexcept override { return of_->pollable(); }
  int listen(const listen_options& options) override { return of_->listen(options); }
  int connect(const address& to, error_code& failed, const keep_alive_settings& how = {}) noexcept override {
    return of_->connect(to, failed, how);
  }
  [[nodiscard]] address local_address(int handle) const override { return of_->local_address(handle); }
  [[nodiscard]] address remote_address(int handle) const override { return of_->remote_address(handle); }
  void bound_buffers(int handle, int send, int receive) noexcept override { of_->bound_buffers(handle, send, receive); }
  void close(int handle) noexcept override { of_->close(handle); }
  void reset_when_closed(int handle) noexcept override { of_->reset_when_closed(handle); }
  void shutdown_send(int handle) noexcept override { of_->shutdown_send(handle); }
  [[nodiscard]] std::size_t unread(int handle) const noexcept override { return of_->unread(handle); }
  error_code add(stream_channel& c, int handle) override { return of_->add(c, handle); }
  error_code add(accept_channel& c, int handle) override { return of_->add(c, handle); }
  error_code add(event_channel& c, int handle) override { return of_->add(c, handle); }
  error_code add(connect_channel& c, int handle) override { return of_->add(c, handle); }
  void remove(channel& c) noexcept override { of_->remove(c); }
  void set_reading(channel& c, bool on) noexcept override { of_->set_reading(c, on); }
  void accept_waiting(accept_channel& c, int most) noexcept override { of_->accept_waiting(c, most); }
  [[nodiscard]] bool has_to_prepare() const noexcept override { return of_->has_to_prepare(); }
  void prepare() override { of_->prepare(); }
  void receive_in_place(stream_channel& c) noexcept override { of_->receive_in_place(c); }
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override {
    for (const iovec& p : pieces) offered_->emplace_back(static_cast<const char*>(p.iov_base), p.iov_len);
    return of_->send(c, pieces);
  }

 private:
  std::unique_ptr<engine> of_;
  journal* offered_;
};

}  // namespace quintet::testing
