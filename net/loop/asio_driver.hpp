// SPDX-License-Identifier: BSL-1.0
// asio_driver: runs a server or a client inside of the program's io_context: no thread of its own, and no polling.
#pragma once

#include "event_loop.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace boost::asio {
class io_context;
}

namespace quintet {

/// Takes the place of a server's run(): `asio_driver driver(server, context); context.run();`. The main loop takes its
/// turns as handlers of the io_context, which watches the loop's descriptor and its next timer in between. The
/// io_context has work until the server has ended, after stop() or drain().
///
/// One thread alone must run the io_context: that of the first turn. A turn on another thread throws std::logic_error
/// out of that thread's io_context::run(). A handler that runs the io_context gets no turn of its server within.
///
/// Handlers on the main loop may await operations of the io_context. Handlers on other loops must not: after stop() the
/// last turn waits for them, and the io_context completes nothing meanwhile. So does the server's destructor.
///
/// An exception of the engine leaves io_context::run() as it would leave the server's run(): the driver has ended, and
/// the server's destructor closes the rest. Exceptions of handlers are counted, as always.
class asio_driver {
 public:
  /// [before run] Starts the server. `in` and the server must not be destroyed by a handler of the server. When the
  /// server has ended, and the threads of its model too, `ended` is called as a handler of the io_context; it may
  /// destroy the driver and the server. Throws config_error if the main loop's engine has no descriptor to wait for
  /// (epoll has one), the exceptions of start(), and std::bad_alloc.
  template <class Server>
  asio_driver(Server& server, boost::asio::io_context& in, std::function<void()> ended = {}) {
    require_descriptor(server.main_loop());
    server.start();
    begin(server.main_loop(), in, [&server] { server.finish(); }, std::move(ended));
  }
  /// [loop] Leaves a server that has not ended to its destructor, which stops it. Destroy the driver before the server.
  /// The io_context may be destroyed earlier or later.
  ~asio_driver();
  asio_driver(const asio_driver&) = delete;
  asio_driver& operator=(const asio_driver&) = delete;

 private:
  class turns;
  static void require_descriptor(event_loop& loop);
  void begin(event_loop& loop, boost::asio::io_context& in, std::function<void()> finish, std::function<void()> ended);
  std::weak_ptr<turns> turns_;  // owned by its handlers in the io_context
};

}  // namespace quintet
