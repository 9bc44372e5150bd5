// SPDX-License-Identifier: BSL-1.0
// memory_engine: the engine for the handles of a memory_network.
#pragma once

#include "../engine/engine.hpp"
#include "memory_network.hpp"

#include <cstddef>
#include <map>

namespace quintet::testing {

/// The network must outlive the engine. Thread tags as in engine.
class memory_engine final : public engine {
 public:
  memory_engine(memory_network& network, socket_services& sockets)
      : engine({.name = "memory", .can_detach = true}, sockets), net_(network) {}

  bool poll(duration) override;
  void wake() noexcept override {}
  error_code add(channel& c, stream_handle&& handle) override;
  stream_handle remove(channel& c) noexcept override;
  error_code set_reading(channel& c, bool on) noexcept override;
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;

 private:
  bool ready(channel& c);
  bool accept_ready(accept_channel& c);
  bool connect_ready(connect_channel& c);
  bool stream_ready(stream_channel& c);
  bool read(stream_channel& c);
  void receive(stream_channel& c);
  static void tell_reset(stream_channel& c, bool nothing_waits);
  static bool tell_end(stream_channel& c);
  std::size_t room(int handle) const;

  memory_network& net_;
  std::map<int, channel*> watched_;
};

}  // namespace quintet::testing
