// SPDX-License-Identifier: BSL-1.0
// watched_engine: forwards all calls to another engine. Records the pieces to send, and tells of each wake().
#pragma once

#include <quintet/net/engine/engine.hpp>
#include <quintet/net/engine/socket_services.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quintet::testing {

class watched_engine final : public engine {
 public:
  /// The pieces passed to send(), in order. They refer to the sender's memory.
  using journal = std::vector<bytes>;

  /// `woken`: called by the thread that has called wake().
  watched_engine(std::unique_ptr<engine> of, journal& offered, std::function<void()> woken = {})
      : engine(of->capabilities(), of->sockets(), of->embedding()),
        of_(std::move(of)),
        offered_(&offered),
        woken_(std::move(woken)) {}

  void prepare() override { of_->prepare(); }
  bool poll(duration longest) override { return of_->poll(longest); }
  void wake() noexcept override {
    of_->wake();
    if (woken_) woken_();
  }
  error_code add(channel& c, stream_handle&& handle) override { return of_->add(c, std::move(handle)); }
  stream_handle remove(channel& c) noexcept override { return of_->remove(c); }
  error_code set_reading(channel& c, bool on) noexcept override { return of_->set_reading(c, on); }
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override {
    for (const iovec& p : pieces) offered_->emplace_back(static_cast<const char*>(p.iov_base), p.iov_len);
    return of_->send(c, pieces);
  }
  void flush(flush_extent how) noexcept override { of_->flush(how); }
  void shutdown_send(stream_channel& c) noexcept override { of_->shutdown_send(c); }
  void close(stream_handle&& handle) noexcept override { of_->close(std::move(handle)); }

 private:
  std::unique_ptr<engine> of_;
  journal* offered_;
  std::function<void()> woken_;
};

}  // namespace quintet::testing
