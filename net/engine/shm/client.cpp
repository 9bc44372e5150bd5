// SPDX-License-Identifier: BSL-1.0
// client: connects, waits by spinning and then by sleeping, sends and receives.
#include "client.hpp"

#include "../../names/address.hpp"
#include "../system_call.hpp"
#include "offer.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

/// Waits until the socket is readable. Returns false after `longest`.
bool wait_readable(int socket, duration longest) noexcept {
  pollfd about{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&about, 1, system_call::to_milliseconds(longest)) != 0;  // an interrupted wait counts as readable
}

duration time_left(time_point until) noexcept { return until - std::chrono::steady_clock::now(); }

// Bounds connect(), which waits while the server's backlog is full. Zero would be no limit.
void limit_sending(int socket, duration longest) noexcept {
  const auto us = std::chrono::ceil<std::chrono::microseconds>(longest).count();
  const timeval limit{.tv_sec = static_cast<time_t>(us / 1'000'000),
                      .tv_usec = static_cast<suseconds_t>(us % 1'000'000)};
  (void)::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

passed_descriptors::owned_socket connect(const std::string& at, time_point until) {
  if (!address(at).is_unix()) throw config_error(at + ": shared memory needs unix:/path or unix:@name");
  const address to(shm::offer_address(at));
  passed_descriptors::owned_socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int error = s ? EAGAIN : errno;
  while (error == EAGAIN || error == EINTR) {
    const duration left = time_left(until);
    if (left <= duration::zero()) throw_system_error(ETIMEDOUT, "cannot connect to " + at + ".shm");
    limit_sending(s.get(), left);
    if (::connect(s.get(), to.data(), to.size()) == 0) return s;
    error = errno;
  }
  throw_system_error(error, "cannot connect to " + at + ".shm");
}

shm::segment attach(int socket, const std::string& at, time_point until) {
  for (shm::segment memory;;) {
    const error_code failed = shm::receive_offer(socket, memory);
    if (!failed) return memory;
    if (failed != boost::system::errc::resource_unavailable_try_again)
      throw boost::system::system_error(failed, "no shared memory from " + at);
    const duration left = time_left(until);
    if (left <= duration::zero() || !wait_readable(socket, left))
      throw_system_error(ETIMEDOUT, "no shared memory from " + at);
  }
}

}  // namespace

shared_memory_client::shared_memory_client(std::string_view at, const options& how) : how_(how) {
  const time_point until = later(std::chrono::steady_clock::now(), how.timeout);
  const std::string where(at);
  socket_ = connect(where, until);
  if (!shm::is_expected_server(socket_.get(), address(where), how_.may_be_server))
    throw_system_error(EACCES, "no shared memory from " + where + ": another user has taken its name");
  endpoint_ = shm::endpoint(attach(socket_.get(), where, until));
}

// The endpoint of a client never keeps the socket: socket_ closes it.
shared_memory_client::~shared_memory_client() { (void)endpoint_.close(closing_, socket_.get()); }

// ---- Waiting --------------------------------------------------------------------------------------------------------

// Spins, then announces the sleep and looks once more.
template <class Ready, class Sleep>
bool shared_memory_client::wait_until(Ready ready, Sleep sleep, duration longest) {
  if (ready()) return true;
  const time_point begin = std::chrono::steady_clock::now();
  const auto passed = [begin] { return std::chrono::steady_clock::now() - begin; };
  constexpr int looks_per_clock = 32;  // a look at the clock takes as long as several at the ring
  do
    for (int i = 0; i < looks_per_clock; ++i)
      if (ready()) return true;
  while (passed() < std::min(how_.spin, longest));
  while (!ready()) {
    if (has_ended()) return ready();
    const duration left = longest == duration::max() ? longest : longest - passed();
    if (left <= duration::zero()) return false;
    if (sleep() && !wait_for_wake(left)) return ready();
  }
  return true;
}

bool shared_memory_client::wait_for_wake(duration longest) noexcept {
  if (!wait_readable(socket_.get(), longest)) return false;
  if (shm::take_wakes(socket_.get())) peer_ended_ = true;
  return true;
}

bool shared_memory_client::has_ended() noexcept {
  return peer_ended_ || endpoint_.in.is_corrupt() || endpoint_.out.is_corrupt() ||
         endpoint_.in.producer_end() != shm::stream_end::none;
}

bool shared_memory_client::wait(duration longest) {
  return wait_until([this] { return endpoint_.in.available() > 0; }, [this] { return endpoint_.in.sleep(); }, longest);
}

bool shared_memory_client::wait_for_room(duration longest) {
  // A server that has finished sending may still read.
  if (endpoint_.out.room(1) > 0 && !peer_ended_) return true;
  const time_point until = later(std::chrono::steady_clock::now(), longest);
  while (!peer_ended_ && !endpoint_.out.is_corrupt()) {
    if (endpoint_.out.room(1) > 0) return true;
    const duration left = longest == duration::max() ? longest : time_left(until);
    if (left <= duration::zero()) return false;
    if (endpoint_.out.wait_for_room()) (void)wait_for_wake(left);
  }
  return false;
}

error_code shared_memory_client::end_reason() noexcept {
  const shm::stream_end how = endpoint_.in.producer_end();
  if (endpoint_.in.is_corrupt() || endpoint_.out.is_corrupt()) return system_error_code(EPROTO);
  if (how == shm::stream_end::reset || (how == shm::stream_end::none && peer_ended_))
    return system_error_code(ECONNRESET);
  return {};
}

// ---- Bytes ----------------------------------------------------------------------------------------------------------

bool shared_memory_client::send(bytes data) {
  while (!data.empty()) {
    if (!wait_for_room(how_.send_timeout)) return false;
    const std::size_t count = endpoint_.out.copy_in(0, data);
    commit(count);
    data.remove_prefix(count);
  }
  return true;
}

void shared_memory_client::commit(std::size_t count) noexcept {
  if (endpoint_.out.commit(count)) shm::wake_peer(socket_.get());
}

void shared_memory_client::finish_sending() noexcept {
  if (endpoint_.out.finish(shm::stream_end::finished)) shm::wake_peer(socket_.get());
}

void shared_memory_client::release(std::size_t count) noexcept {
  if (endpoint_.in.release(count)) shm::wake_peer(socket_.get());
}

std::size_t shared_memory_client::receive(std::span<char> place) {
  if (!wait()) return 0;
  const std::size_t count = endpoint_.in.copy_out(place);
  release(count);
  return count;
}

}  // namespace quintet
