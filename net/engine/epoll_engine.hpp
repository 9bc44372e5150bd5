// SPDX-License-Identifier: BSL-1.0
// epoll_engine: a level-triggered epoll set; one recv per ready connection, one send per batch of replies.
#pragma once

#include "embedding.hpp"
#include "file_descriptor.hpp"
#include "socket_engine.hpp"
#include "wake_event.hpp"

#include <array>
#include <memory>

#include <sys/epoll.h>

namespace quintet {

/// Level-triggered on purpose. A short read needs no second recv to find the queue empty. The next turn reports input
/// left unread by this one, so no connection starves the others. Thread tags as in engine.
class epoll_engine final : public socket_engine, private engine_embedding {
 public:
  /// Throws boost::system::system_error.
  epoll_engine();

  bool poll(duration longest) override;
  void wake() noexcept override;
  error_code add(channel& c, stream_handle&& handle) override;
  stream_handle remove(channel& c) noexcept override;
  error_code set_reading(channel& c, bool on) noexcept override;
  send_result send(stream_channel& c, bytes data) noexcept override;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;
  send_result end_direct_send(stream_channel& c, std::size_t offered, ssize_t n) noexcept override;

 private:
  static constexpr int batch = 256;

  [[nodiscard]] int descriptor() noexcept override { return set_.get(); }
  static std::uint32_t first_interest(const channel& c, const stream_handle& stream) noexcept;
  error_code watch(channel& c, int handle, std::uint32_t events) noexcept;
  error_code set_interest(channel& c, std::uint32_t events, bool on) noexcept;
  error_code change_interest(channel& c, std::uint32_t wanted) noexcept;
  static bool is_shared_listener(const channel& c) noexcept;
  error_code hold_listener(channel& c, bool on) noexcept;
  int wait(duration longest) noexcept;
  bool dispatch(const epoll_event& event, std::size_t in_turn);
  void stream_ready(stream_channel& c, std::uint32_t events);
  void more_than_input(stream_channel& c, std::uint32_t events);
  void receive(stream_channel& c);
  void receive_guarded(stream_channel& c);
  void in_place_stream_ready(stream_channel& c, std::uint32_t events);
  void nothing_received(stream_channel& c, ssize_t result);
  void connect_ready(connect_channel& c) noexcept;

  file_descriptor set_;
  wake_event wake_{EFD_NONBLOCK};
  std::unique_ptr<char[]> received_;  // shared by all connections: an idle one holds no receive buffer
  std::array<epoll_event, batch> ready_{};
  bool blocked_ = false;  // the last send() was partial
};

}  // namespace quintet
