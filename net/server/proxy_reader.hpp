// SPDX-License-Identifier: BSL-1.0
// proxy_reader: reads the PROXY header of a connection that a listener has accepted, and not one byte more.
#pragma once

#include "../../base/framing/proxy_protocol.hpp"
#include "../../base/work/work_item.hpp"
#include "../loop/event_loop.hpp"

#include <boost/intrusive/list.hpp>

#include <string>

namespace quintet {

/// Of the list of all that are incomplete.
using proxy_reader_hook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// Made by new; deletes itself once it has called finished(), at the end of the loop's turn. The bytes behind the
/// header stay in the socket, for the engine and the transport of the connection. So a header may precede any stream.
class proxy_reader : public event_channel, public timer, public work_item, public proxy_reader_hook {
 public:
  /// [loop] Reads what has arrived, and watches the socket until the header is complete or the time is over.
  void start(int socket) noexcept;
  /// [loop] Reads what has arrived, and stops; or stops without.
  void read_and_stop() noexcept;
  void stop() noexcept { finish(errc::stopped); }

 protected:
  proxy_reader(event_loop& loop, const proxy_options& how) noexcept
      : work_item([](work_item& self) noexcept { delete &static_cast<proxy_reader&>(self); }), loop_(loop), how_(how) {}
  virtual ~proxy_reader() = default;
  /// [loop] The only call. `failed`: errc::malformed_proxy_header, missing_proxy_header, stopped, or the system's
  /// error.
  virtual void finished(error_code failed, const proxy_header& header) noexcept = 0;

 private:
  void on_event() override { (void)read(); }
  void expired() noexcept override;
  bool read() noexcept;
  [[nodiscard]] error_code try_read(proxy_header& header);
  [[nodiscard]] bool take(std::size_t count) noexcept;
  void finish(error_code failed, const proxy_header& header = {}) noexcept;

  event_loop& loop_;
  const proxy_options& how_;
  int socket_ = -1;
  std::string arrived_;  // of the header: these bytes have left the socket
};

}  // namespace quintet
