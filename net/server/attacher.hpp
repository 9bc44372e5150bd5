// SPDX-License-Identifier: BSL-1.0
// attacher: makes a server's connection of a handle that its program has connected itself.
#pragma once

#include "../connection/session.hpp"
#include "../loop/placing.hpp"

#include <boost/system/system_error.hpp>

#include <memory>
#include <utility>

namespace quintet::detail {

/// The owner of one such connection, and of itself. It is a friend of the server.
template <class Server, handler H>
class attacher {
 public:
  /// See basic_server::attach().
  template <class F>
  static void attach(Server& server, event_loop* near, int handle, H h, F refused);

 private:
  using session = session_for<attacher, H>;
  friend session;
  static constexpr bool can_migrate = false;  // for sessions

  /// `placed`: by the model, which is to be told when it has gone.
  attacher(Server& server, bool placed) noexcept : server_(server), placed_(placed) {}

  template <class F>
  static void begin(Server& server, event_loop& on, bool placed, int handle, H h, F& refused) noexcept;
  template <class F>
  static void refuse(Server& server, event_loop& on, int handle, error_code why, F& refused) noexcept;
  void run_by_model(work_item& item) noexcept { server_.run_by_model(item); }
  [[nodiscard]] bool runs_here(const event_loop& on) const noexcept { return server_.runs_here(on); }
  void retire(session* s) noexcept {
    event_loop& loop = s->loop();
    delete s;
    if (placed_) server_.release(loop);
    auto& left_behind = server_.drainage_;
    delete this;
    left_behind.left();
  }

  Server& server_;
  const bool placed_;
};

template <class Server, handler H>
template <class F>
void attacher<Server, H>::attach(Server& server, event_loop* near, int handle, H h, F refused) {
  // Shared, so that what could not be posted can still be refused.
  struct parcel {
    H its;
    F refused;
  };
  const auto p = std::make_shared<parcel>(parcel{std::move(h), std::move(refused)});
  const bool placed = !near || near->io().capabilities().single_stream;
  server.drainage_.entered();
  try {
    if (!placed)
      near->post([&server, near, handle, p]() noexcept {
        begin(server, *near, false, handle, std::move(p->its), p->refused);
      });
    else
      server.main_.post([&server, handle, p]() noexcept {
        if (server.main_.stopping()) return refuse(server, server.main_, handle, errc::stopped, p->refused);
        try {
          place(server.model_, server.main_, server.model_.place(), [&server, handle, p](event_loop& on) noexcept {
            begin(server, on, true, handle, std::move(p->its), p->refused);
          });
        } catch (...) {
          refuse(server, server.main_, handle, reason_of_exception(), p->refused);
        }
      });
  } catch (...) {
    server.drainage_.left();
    throw;
  }
}

template <class Server, handler H>
template <class F>
void attacher<Server, H>::begin(Server& server, event_loop& on, bool placed, int handle, H h, F& refused) noexcept {
  try {
    if (on.stopping()) throw boost::system::system_error(errc::stopped);
    std::unique_ptr<attacher> owner(new attacher(server, placed));
    auto* const s = new session(*owner, on, server.host_, std::move(h));
    (void)owner.release();
    s->begin(handle);  // owns itself, its owner and the handle from here on
  } catch (...) {
    if (placed) server.release(on);
    refuse(server, on, handle, reason_of_exception(), refused);
  }
}

template <class Server, handler H>
template <class F>
void attacher<Server, H>::refuse(Server& server, event_loop& on, int handle, error_code why, F& refused) noexcept {
  on.io().close(handle);
  server.drainage_.left();
  refused(why);
}

}  // namespace quintet::detail
