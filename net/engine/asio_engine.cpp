// SPDX-License-Identifier: BSL-1.0
// asio_engine: waits by documented calls of Boost.Asio, then receives and sends by non-blocking system calls.
#include "asio_wake_ups.hpp"
#include "embedding.hpp"
#include "handle_table.hpp"
#include "operation_memory.hpp"
#include "passed_descriptors.hpp"
#include "socket_engine.hpp"
#include "system_call.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
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
constexpr std::uint32_t failed = 4;            // a paused stream's error wait has completed: do not wait again
constexpr std::uint32_t guarded = 8;           // descriptors can arrive, see passed_descriptors
constexpr std::size_t spare_watches = 64;
constexpr std::size_t longest_batch = 256, worth_a_look = 4;  // handlers per turn

/// A channel's entry in the io_context. Asio's operations refer to the watch, not to the channel: the watch outlives
/// the channel's removal until all of them have completed.
struct watch : boost::intrusive::list_base_hook<> {
  using descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;
  watch(asio_engine& engine, asio::io_context& context) : owner(engine), io(std::in_place, context) {}

  asio_engine& owner;
  std::optional<descriptor> io;  // borrowed: released, never closed
  channel* target = nullptr;     // nullptr: removed
  unsigned outstanding = 0;      // operations, plus a callback in progress
  bool waiting[3] = {};          // by wait_type
  bool is_blocking = false;      // restore blocking mode after starting a wait: Asio makes it non-blocking
  operation_memory memory[3];
};

}  // namespace

/// Asio's sockets would need a receive buffer per connection. On Boost 1.81 they also attempt a useless second read
/// after each message. So the engine waits until a descriptor is readable, and receives into the loop's shared buffer.
/// The loop's guests use the same io_context. Thread tags as in engine.
class asio_engine final : public socket_engine, private engine_embedding {
 public:
  /// Also opens the io_context's own descriptors. Later, on the loop's thread, a failure to open them would end the
  /// program. Throws boost::system::system_error.
  asio_engine() : socket_engine({.name = "asio", .shared_accept = true}, this) {
    begin();
    detail::prove_wake_ups(*context_);
  }
  ~asio_engine() override { end(); }
  asio_engine(const asio_engine&) = delete;
  asio_engine& operator=(const asio_engine&) = delete;

  bool poll(duration longest) override;
  void wake() noexcept override;
  error_code add(channel& c, stream_handle&& handle) override {
    if (kind_of(c) == kind::connect) return watch_it(c, handle, sends);
    return watch_it(c, handle, is_stream(c) && passed_descriptors::must_guard(handle) ? reads | guarded : reads);
  }
  stream_handle remove(channel& c) noexcept override;
  error_code set_reading(channel& c, bool on) noexcept override;
  using engine::send;
  send_result send(stream_channel& c, output_pieces pieces) noexcept override;

 private:
  using watch_list = boost::intrusive::list<watch, boost::intrusive::constant_time_size<false>>;
  template <wait_type What>
  struct completion;
  struct woken;

  /// The engine has no descriptor(), because Asio does not expose its own.
  [[nodiscard]] asio::io_context* context() noexcept override { return context_ ? &*context_ : nullptr; }
  void abandon() noexcept override;
  void begin();
  void end() noexcept;
  error_code watch_it(channel& c, const stream_handle& stream, std::uint32_t wanted);
  watch& fresh_watch();
  void give_up(watch& w) noexcept;
  template <wait_type What>
  void wait(watch& w);
  template <wait_type What>
  void waited(watch& w, const error_code& ec);
  template <wait_type What>
  void dispatch(watch& w, const error_code& ec);
  void readable(channel& c, const error_code& ec);
  void writable(channel& c, const error_code& ec);
  void failing(channel& c);
  void receive(stream_channel& c);
  bool received_in_place(stream_channel& c);
  void end_of_input(stream_channel& c, error_code reason);
  void wait_for_more(watch& w);
  std::size_t run_batch();

  std::optional<asio::io_context> context_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> stays_open_;
  watch_list watches_;  // all except spare_
  std::vector<std::unique_ptr<watch>> spare_;
  handle_table<watch> by_handle_;
  std::unique_ptr<char[]> received_ = std::make_unique_for_overwrite<char[]>(receive_size);
  std::atomic<bool> waking_{false};  // `woken` has been posted and has not run yet
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
    engine->waking_.exchange(false);  // an exchange: synchronizes with every wake() that posted nothing
    engine->woken_ = true;
  }
  asio_engine* engine;
};

// UNSAFE_IO: only the loop's thread uses the descriptors, so Asio need not lock them. Posting stays thread-safe.
void asio_engine::begin() {
  context_.emplace(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO);
  stays_open_.emplace(context_->get_executor());
  spare_.reserve(spare_watches);
}

// Destroys descriptors before the context, and the memory of its operations after the context.
void asio_engine::end() noexcept {
  for (watch& w : watches_) {
    if (w.target) {
      bind(*w.target, -1);
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
  } catch (const std::bad_alloc&) {  // context() is nullptr now
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

// A loop turn per handler would often cost more than the handler. But Asio does not report how many are left, and a
// search that finds none costs a system call. So batch if the previous batch was large, else every sixteenth turn.
std::size_t asio_engine::run_batch() {
  if (last_batch_ < worth_a_look && ++turns_ % 16 != 0) return 0;
  // Not poll(), which never returns if a handler keeps posting itself.
  for (last_batch_ = 0; last_batch_ < longest_batch && context_->poll_one() > 0;) ++last_batch_;
  return last_batch_;
}

void asio_engine::wake() noexcept {
  if (!waking_.exchange(true)) asio::post(*context_, woken{this});
}

error_code asio_engine::watch_it(channel& c, const stream_handle& stream, std::uint32_t wanted) try {
  if (const error_code refused = check_watchable(c, stream)) return refused;
  const int handle = stream.get();
  by_handle_.reserve_for(handle);
  watch& w = fresh_watch();
  error_code ec;
  w.io->assign(handle, ec);
  if (ec) {
    give_up(w);
    return ec;
  }
  w.target = &c;
  // The owner of an event's descriptor reads it, perhaps by blocking calls.
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

// Recycles or deletes a watch without outstanding operations and without a channel.
void asio_engine::give_up(watch& w) noexcept {
  watches_.erase(watches_.iterator_to(w));
  std::unique_ptr<watch> mine(&w);
  if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(mine));
}

stream_handle asio_engine::remove(channel& c) noexcept {
  if (c.handle() < 0) return {};
  watch& w = *by_handle_.take(c.handle());
  w.target = nullptr;
  (void)w.io->release();
  if (w.outstanding == 0) give_up(w);
  return unbind(c);
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
  if (w.target) dispatch<What>(w, ec);
  if (--w.outstanding == 0 && !w.target) give_up(w);
}

template <wait_type What>
void asio_engine::dispatch(watch& w, const error_code& ec) {
  channel& c = *w.target;
  if constexpr (What == wait_type::wait_read) {
    if (interest(c) & reads) readable(c, ec);
  } else if constexpr (What == wait_type::wait_write) {
    writable(c, ec);
  } else {
    failing(c);
  }
  if (w.target) wait_for_more(w);
}

void asio_engine::wait_for_more(watch& w) {
  channel& c = *w.target;
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
  if (kind_of(c) == kind::in_place_stream && (interest(c) & guarded)) end_in_place(c);
  if (kind_of(c) == kind::in_place_stream && received_in_place(c)) return;
  const bool passes = (interest(c) & guarded) != 0;
  const ssize_t n = passes ? passed_descriptors::receive(c.handle(), received_.get(), receive_limit(), MSG_DONTWAIT)
                           : system_call::receive(c.handle(), received_.get(), receive_limit(), MSG_DONTWAIT);
  if (n > 0) return c.on_received({received_.get(), static_cast<std::size_t>(n)});
  if (!system_call::is_for_now(n)) end_of_input(c, system_call::error_of(n));
}

// Returns false if the stream has no space.
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

// `ec`: the kernel has refused to watch for it.
void asio_engine::writable(channel& c, const error_code& ec) {
  interest(c) &= ~sends;
  if (is_stream(c)) {
    auto& s = static_cast<stream_channel&>(c);
    return ec ? end_of_input(s, ec) : s.on_sendable();
  }
  const int handle = c.handle();
  remove(c);
  static_cast<connect_channel&>(c).on_connected(ec ? ec : kernel_sockets::finish_connect(handle));
}

// Reports the error of a paused stream. Asio also completes the wait for urgent data, and when both sides have finished
// sending. These are no failures, and the engine does not wait again.
void asio_engine::failing(channel& c) {
  if (interest(c) & reads) return;  // the next read returns the error
  interest(c) |= failed;
  pollfd state{c.handle(), 0, 0};
  if (::poll(&state, 1, 0) != 1 || !(state.revents & POLLERR)) return;
  (void)report_error(static_cast<stream_channel&>(c));
}

error_code asio_engine::set_reading(channel& c, bool on) noexcept {
  if (c.handle() < 0) return {};
  interest(c) = on ? (interest(c) | reads) & ~failed : interest(c) & ~reads;
  wait_for_more(*by_handle_.find(c.handle()));
  return {};
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
