// SPDX-License-Identifier: BSL-1.0
// shared_memory: an engine serves a peer that writes anything to the shared memory and the socket, at any moment. No
// byte is read twice or out of bounds, and the stream ends once at most.
#include <quintet/net/engine/epoll_engine.hpp>
#include <quintet/net/engine/shm/endpoint.hpp>
#include <quintet/net/engine/shm/offer.hpp>
#include <quintet/net/engine/shm/shm_engine.hpp>

#include "fuzz.hpp"
#include "segment_access.hpp"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace quintet;
using fuzz::require;

constexpr std::size_t ring_size = 4096;

/// Counts what arrives. Receives in place when told to.
class stream final : public stream_channel {
 public:
  void on_received(bytes arrived) override { count(arrived.size()); }
  void on_receive_end(error_code) override {
    require(!ended, "the stream ends once");
    ended = true;
  }
  void on_sendable() override {}
  std::span<char> receive_space() noexcept override { return std::span(place_).first(room); }
  void on_received_in_place(std::size_t size) override { count(size); }

  std::size_t room = 0;
  bool ended = false;

 private:
  void count(std::size_t size) const {
    require(!ended, "nothing arrives after the end");
    require(size > 0 && size <= ring_size, "at most a ring arrives at once");
  }
  std::array<char, 300> place_{};
};

/// One connection in this process: the engine's end, and the hostile one.
struct world {
  world() {
    std::array<int, 2> pair{};
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0, "socketpair");
    stream_handle here(pair[0]);
    there = file_descriptor(pair[1]);
    shm::segment_offerer({.ring_size = ring_size}).offer_to(here);
    require(!shm::receive_offer(there.get(), peer), "an honest offer is taken");
    require(!io.add(channel, std::move(here)), "an engine takes a stream with an endpoint");
  }
  ~world() { io.close(io.remove(channel)); }
  shm::shm_engine io{std::make_unique<epoll_engine>()};
  stream channel;
  file_descriptor there;
  shm::segment peer;
};

void step(world& w, fuzz::input& in) {
  const shm::segment_access all(w.peer);
  const std::uint8_t what = in.byte();
  std::uint64_t value = 0;
  const bytes given = in.take(what & 0x80U ? 8 : 1);
  std::memcpy(&value, given.data(), given.size());
  switch (what % 9) {
    case 0:
      return all.write(value >> 48U, value);
    case 1:
      return all.control(false).produced.store(value % (2 * ring_size) + (what & 0x40U ? value : 0));
    case 2:
      return all.control(true).consumed.store(value % (2 * ring_size) + (what & 0x40U ? value : 0));
    case 3:
      return all.control(false).end.store(static_cast<shm::stream_end>(value % 4));
    case 4:
      return shm::wake_peer(w.there.get());
    case 5:
      w.io.set_reading(w.channel, (value & 1U) != 0);
      return;
    case 6:
      w.channel.room = value % 300;
      return w.channel.receive_in_place();
    case 7: {
      const std::string data(value % (2 * ring_size), 'x');
      if (!data.empty())
        require(w.io.send(w.channel, bytes(data)).bytes <= data.size(), "no more is sent than was offered");
      return;
    }
    default:
      if (value == 0xee) w.there.reset();
      (void)w.io.poll(duration::zero());
  }
}

/// Anything that a hostile server may send instead of an offer.
void attach(fuzz::input& in) {
  std::array<int, 2> pair{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) == 0, "socketpair");
  const file_descriptor here(pair[0]), there(pair[1]);
  const file_descriptor file(::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::uint8_t how = in.byte();
  (void)!::ftruncate(file.get(), how & 1U ? 4096 + 2 * ring_size : in.byte() * 512);
  if (how & 2U) (void)::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | (how & 4U ? F_SEAL_SEAL : 0));
  shm::segment_offer what{shm::segment_offer::expected_magic, shm::segment_offer::current_version,
                          static_cast<std::uint32_t>(ring_size)};
  std::array<char, sizeof what + 16> message{};
  std::memcpy(message.data(), &what, sizeof what);
  const bytes change = in.take(8);
  if (!change.empty()) std::memcpy(message.data() + in.byte() % (sizeof what - 8), change.data(), change.size());
  iovec piece{.iov_base = message.data(), .iov_len = how & 8U ? sizeof what : in.byte() % message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  msghdr m{};
  m.msg_iov = &piece;
  m.msg_iovlen = 1;
  if (how & 16U) {
    const std::size_t descriptors = how & 32U ? 2 : 1;
    m.msg_control = room.data();
    m.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
    cmsghdr* const h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET;
    h->cmsg_type = SCM_RIGHTS;
    h->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    const std::array<int, 2> fds{file.get(), file.get()};
    std::memcpy(CMSG_DATA(h), fds.data(), descriptors * sizeof(int));
  }
  if (piece.iov_len > 0) (void)::sendmsg(there.get(), &m, MSG_NOSIGNAL);
  shm::segment made;
  const error_code failed = shm::receive_offer(here.get(), made);
  require(static_cast<bool>(failed) != static_cast<bool>(made), "an offer is taken or refused");
  if (made) require(made.ring_size() == ring_size, "a segment has the size of its file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  if (in.byte() % 4 == 0) {
    attach(in);
  } else {
    world w;
    for (int steps = 0; !in.empty() && steps < 200; ++steps) step(w, in);
  }
  return 0;
}
