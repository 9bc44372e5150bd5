// SPDX-License-Identifier: BSL-1.0
// asio_engine: waiting by documented calls of Boost.Asio; receiving and sending at once, when it says that one can.
#include "embedding.hpp"
#include "handle_table.hpp"
#include "operation_memory.hpp"
#include "socket_engine.hpp"
#include "system_call.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace quintet {

class asio_engine;

namespace {

namespace asio = boost::asio;
using wait_type = asio::posix::descriptor_base::wait_type;

constexpr std::uint32_t reads = 1, sends = 2;  // a channel's interest
constexpr std::uint32_t failed = 4;            // it has been asked, while it was not read from
constexpr std::size_t spare_watches = 64;
constexpr std::size_t longest_batch = 256, worth_a_look = 4;  // handlers in a turn

/// A channel's place in the io_context. It outlives the channel's removal until Asio has given back its operations,
/// which therefore name it and not the channel.
struct watch : boost::intrusive::list_base_hook<> {
  using descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;
  watch(asio_engine& engine, asio::io_context& context) : owner(engine), io(std::in_place, context) {}

  asio_engine& owner;
  std::optional<descriptor> io;  // borrowed: released, never closed
  channel* of = nullptr;         // nullptr: removed
  unsigned outstanding = 0;      // operations, and a callback that is under way
  bool waiting[3] = {};          // by wait_type
  bool is_blocking = false;      // and is to stay so: Asio makes it non-blocking for each wait
  operation_memory memory[3];
};

}  // namespace

/// Asio's sockets would read by themselves, into a buffer for each; on Boost 1.81 they also try to read once more after
/// each message, in vain. So the engine waits for a descriptor to be readable, and receives into the one buffer of the
/// loop. The io_context is also that of the loop's guests.
class asio_engine final : public socket_engine, private engine_embedding {
 public:
  /// Also opens what the io_context waits with, which its first I/O object would do: when there are no descriptors any
  /// more, that would end the program on the loop's thread. Throws boost::system::system_error.
  asio_engine() : socket_engine({.name = "asio", .shared_accept = true}, this) {
    begin();
    const asio::steady_timer first(*context_);
  }
  ~asio_engine() override { end(); }
  asio_engine(const asio_engine&) = delete;
  asio_engine& operator=(const asio_engine&) = delete;

  bool poll(duration longest) override;
  void wake() noexcept override;
  error_code add(channel& c, int handle) override {
    return watch_it(c, handle, kind_of(c) == kind::connect ? sends : reads);
  }
  void remove(channel& c) noexcept override;
  void set_reading(channel& c, bool on) noexcept override;
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;

 private:
  using watch_list = boost::intrusive::list<watch, boost::intrusive::constant_time_size<false>>;
  template <wait_type What>
  struct completion;
  struct woken;

  /// Asio does not tell what it waits in, so there is no descriptor.
  [[nodiscard]] asio::io_context* context() noexcept override { return context_ ? &*context_ : nullptr; }
  void abandon() noexcept override;
  void begin();
  void end() noexcept;
  error_code watch_it(channel& c, int handle, std::uint32_t wanted);
  watch& fresh_watch();
  void give_up(watch& w) noexcept;
  template <wait_type What>
  void wait(watch& w);
  template <wait_type What>
  void waited(watch& w, const error_code& ec);
  template <wait_type What>
  void dispatch(watch& w, const error_code& ec);
  void readable(channel& c, const error_code& ec);
  void writable(channel& c);
  void failing(channel& c);
  void receive(stream_channel& c);
  bool received_in_place(stream_channel& c);
  void end_of_input(stream_channel& c, error_code reason);
  void wait_for_more(watch& w);
  std::size_t run_batch();

  std::optional<asio::io_context> context_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> stays_open_;
  watch_list watches_;  // all but the spare ones
  std::vector<std::unique_ptr<watch>> spare_;
  handle_table<watch> by_handle_;
  std::unique_ptr<char[]> received_ = std::make_unique_for_overwrite<char[]>(receive_size);
  std::atomic<bool> waking_{false};  // what wakes has been posted and has not run
  operation_memory wake_memory_;
  bool woken_ = false;
  unsigned turns_ = 0;
  std::size_t last_batch_ = 0;
};

template <wait_type What>
struct asio_engine::completion {
  using allocator_type = operation_allocator<char>;
  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(w->memory[What]); }
  void operator()(const error_code& ec) const { w->owner.waited<What>(*w, ec); }
  watch* w;
};

struct asio_engine::woken {
  using allocator_type = operation_allocator<char>;
  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(engine->wake_memory_); }
  void operator()() const noexcept {
    engine->waking_.exchange(false);  // and what was done before any wake() is seen
    engine->woken_ = true;
  }
  asio_engine* engine;
};

// UNSAFE_IO: the descriptors are the loop's thread's alone, and Asio need not lock them; posting stays safe.
void asio_engine::begin() {
  context_.emplace(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO);
  stays_open_.emplace(context_->get_executor());
  spare_.reserve(spare_watches);
}

// Descriptors go before the context, and the memory of its operations after it.
void asio_engine::end() noexcept {
  for (watch& w : watches_) {
    if (w.of) {
      bind(*w.of, -1);
      (void)w.io->release();
    }
    w.io.reset();
  }
  spare_.clear();
  by_handle_.clear();
  stays_open_.reset();
  context_.reset();
  watches_.clear_and_dispose([](watch* w) { delete w; });
  waking_ = false;
}

void asio_engine::abandon() noexcept {
  end();
  try {
    begin();
  } catch (const std::bad_alloc&) {  // then whoever still wants one has to make its own
    end();
  }
}

bool asio_engine::poll(duration longest) {
  std::size_t ran = 0;
  if (longest == duration::zero())
    ran = context_->poll_one();
  else if (longest == forever)
    ran = context_->run_one();
  else
    ran = context_->run_one_for(std::min(longest, longest_wait));
  if (ran > 0) ran += run_batch();
  return ran > (std::exchange(woken_, false) ? 1U : 0U);
}

// A turn of the loop for each handler would cost more than many a handler. But Asio does not tell how many are left,
// and looking for one more asks the kernel when there is none. So it is done while it finds many, and tried now and
// then when it did not: a lone connection pays for that in one request of sixteen.
std::size_t asio_engine::run_batch() {
  if (last_batch_ < worth_a_look && ++turns_ % 16 != 0) return 0;
  // One by one: a handler that posts itself again is ready at once, and would keep the loop for itself.
  for (last_batch_ = 0; last_batch_ < longest_batch && context_->poll_one() > 0;) ++last_batch_;
  return last_batch_;
}

void asio_engine::wake() noexcept {
  if (!waking_.exchange(true)) asio::post(*context_, woken{this});
}

error_code asio_engine::watch_it(channel& c, int handle, std::uint32_t wanted) try {
  by_handle_.reserve_for(handle);
  watch& w = fresh_watch();
  error_code ec;
  w.io->assign(handle, ec);
  if (ec) {
    give_up(w);
    return ec;
  }
  w.of = &c;
  // The owner of an event's descriptor reads it, perhaps by calls that are to wait.
  w.is_blocking = kind_of(c) == kind::event && (::fcntl(handle, F_GETFL) & O_NONBLOCK) == 0;
  by_handle_.set(handle, &w);
  bind(c, handle);
  interest(c) = wanted;
  if (wanted & reads) wait<wait_type::wait_read>(w);
  if (wanted & sends) wait<wait_type::wait_write>(w);
  return {};
} catch (const std::bad_alloc&) {
  return system_error_code(ENOMEM);
}

watch& asio_engine::fresh_watch() {
  if (spare_.empty()) spare_.push_back(std::make_unique<watch>(*this, *context_));
  watch& w = *spare_.back().release();
  spare_.pop_back();
  watches_.push_back(w);
  return w;
}

// Asio has nothing of it any more, and no channel names it.
void asio_engine::give_up(watch& w) noexcept {
  watches_.erase(watches_.iterator_to(w));
  std::unique_ptr<watch> mine(&w);
  if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(mine));
}

void asio_engine::remove(channel& c) noexcept {
  if (c.handle() < 0) return;
  watch& w = *by_handle_.take(c.handle());
  w.of = nullptr;
  (void)w.io->release();
  bind(c, -1);
  if (w.outstanding == 0) give_up(w);
}

template <wait_type What>
void asio_engine::wait(watch& w) {
  if (std::exchange(w.waiting[What], true)) return;
  ++w.outstanding;
  w.io->async_wait(What, completion<What>{&w});
  if (!w.is_blocking) return;
  error_code ignored;
  w.io->native_non_blocking(false, ignored);
}

template <wait_type What>
void asio_engine::waited(watch& w, const error_code& ec) {
  w.waiting[What] = false;
  if (w.of) dispatch<What>(w, ec);
  if (--w.outstanding == 0 && !w.of) give_up(w);
}

template <wait_type What>
void asio_engine::dispatch(watch& w, const error_code& ec) {
  channel& c = *w.of;
  if constexpr (What == wait_type::wait_read) {
    if (interest(c) & reads) readable(c, ec);
  } else if constexpr (What == wait_type::wait_write) {
    writable(c);
  } else {
    failing(c);
  }
  if (w.of) wait_for_more(w);
}

void asio_engine::wait_for_more(watch& w) {
  channel& c = *w.of;
  if (interest(c) & reads)
    wait<wait_type::wait_read>(w);
  else if (is_stream(c) && !(interest(c) & failed))
    wait<wait_type::wait_error>(w);
  if (interest(c) & sends) wait<wait_type::wait_write>(w);
}

void asio_engine::readable(channel& c, const error_code& ec) {
  switch (kind_of(c)) {
    case kind::stream:
    case kind::in_place_stream:
      return ec ? end_of_input(static_cast<stream_channel&>(c), ec) : receive(static_cast<stream_channel&>(c));
    case kind::accept:
      return accept_ready(static_cast<accept_channel&>(c), last_batch_);
    case kind::event:
      return static_cast<event_channel&>(c).on_event();
    case kind::connect:
      return;
  }
}

void asio_engine::receive(stream_channel& c) {
  if (kind_of(c) == kind::in_place_stream && received_in_place(c)) return;
  const ssize_t n = system_call::receive(c.handle(), received_.get(), receive_size, MSG_DONTWAIT);
  if (n > 0) return c.on_received({received_.get(), static_cast<std::size_t>(n)});
  if (!system_call::is_for_now(n)) end_of_input(c, system_call::error_of(n));
}

// False: there is no room for it.
bool asio_engine::received_in_place(stream_channel& c) {
  const std::span<char> into = c.receive_space();
  if (c.handle() < 0) return true;
  if (into.empty()) {
    end_in_place(c);
    return false;
  }
  const ssize_t n = system_call::receive(c.handle(), into.data(), into.size(), MSG_DONTWAIT);
  if (n > 0) c.on_received_in_place(static_cast<std::size_t>(n));
  if (n <= 0 && !system_call::is_for_now(n)) end_of_input(c, system_call::error_of(n));
  return true;
}

void asio_engine::end_of_input(stream_channel& c, error_code reason) {
  interest(c) &= ~reads;
  c.on_receive_end(reason);
}

void asio_engine::writable(channel& c) {
  interest(c) &= ~sends;
  if (is_stream(c)) return static_cast<stream_channel&>(c).on_sendable();
  const int handle = c.handle();
  remove(c);
  static_cast<connect_channel&>(c).on_connected(kernel_sockets::finish_connect(handle));
}

// Of a stream that is not read from. Asio reports urgent data as well, and that both sides have finished sending; these
// are no failures and no reason to ask again.
void asio_engine::failing(channel& c) {
  if (interest(c) & reads) return;  // reading says more
  interest(c) |= failed;
  pollfd state{c.handle(), 0, 0};
  if (::poll(&state, 1, 0) != 1 || !(state.revents & POLLERR)) return;
  static_cast<stream_channel&>(c).on_receive_end(kernel_sockets::pending_error(c.handle()));
}

void asio_engine::set_reading(channel& c, bool on) noexcept {
  if (c.handle() < 0) return;
  interest(c) = on ? (interest(c) | reads) & ~failed : interest(c) & ~reads;
  wait_for_more(*by_handle_.find(c.handle()));
}

engine::send_result asio_engine::send(stream_channel& c, output_pieces pieces) noexcept {
  const send_result sent = result_of_send(system_call::send(c.handle(), pieces, MSG_DONTWAIT | MSG_NOSIGNAL));
  if (sent.error == 0 && sent.bytes < size_of(pieces)) [[unlikely]] {
    interest(c) |= sends;
    wait<wait_type::wait_write>(*by_handle_.find(c.handle()));
  }
  return sent;
}

std::unique_ptr<engine> make_asio_engine() { return std::make_unique<asio_engine>(); }

}  // namespace quintet
