// SPDX-License-Identifier: BSL-1.0
// shm_client.cpp: many connections over shared memory on one thread, which looks at each in turn.
#include "load/clients.hpp"
#include "load/conversation.hpp"

#include <quintet/net/engine/shm/client.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace quintet::bench {
namespace {

constexpr std::uint64_t full_wait_ns = 1'000'000;  ///< idle_wait_ns where a request waits for room in its ring
constexpr int looks_per_clock = 16;                ///< a look at the clock takes as long as several at a ring

class shm_client final : public worker {
 public:
  shm_client(control& c, unsigned first, unsigned step)
      : worker(c), spin_ns_(static_cast<std::uint64_t>(c.settings.spin.count())) {
    const unsigned count = c.settings.work.connections;
    for (unsigned i = first; i < count; i += step) links_.push_back({nullptr, conversation(c, i, count), false});
  }

  void run() override {
    connect_all();
    begin();
    for (link& l : links_) send(l);
    while (open_ != 0 && !drained())
      if (!poll_all()) rest();
    for (link& l : links_) close_at_end(l);
  }

 private:
  struct link {
    std::unique_ptr<shared_memory_client> memory;
    conversation talk;
    bool is_full;  ///< the ring had no room for a request's next bytes
  };

  void connect_all() {
    const std::string at = "unix:" + control_.settings.target.path;
    for (link& l : links_) {
      if (control_.at() != phase::connecting) return;
      try {
        l.memory = std::make_unique<shared_memory_client>(at, shared_memory_client::options{.spin = duration::zero()});
        ++open_;
      } catch (const std::exception& e) {
        tally_.fail(1, e.what());
      }
    }
  }

  /// Returns whether a connection had a reply.
  bool poll_all() {
    bool found = false;
    for (link& l : links_) found |= l.memory && look(l);
    return found;
  }

  bool look(link& l) {
    const bytes in = l.memory->peek();
    if (in.empty()) {
      if (l.is_full) send(l);
      return false;
    }
    last_arrival_ = now_ns();
    const bool usable = l.talk.note_received(in, last_arrival_, tally_);
    l.memory->release(in.size());
    usable ? send(l) : drop(l);
    return true;
  }

  /// Writes requests to the ring itself. A request's time begins here, so checking the last reply is not part of it.
  void send(link& l) {
    if (!l.memory) return;
    const std::uint64_t now = now_ns();
    for (;;) {
      const std::span<char> room = l.memory->reserve();
      const std::size_t length = l.talk.produce(room.data(), room.size(), now);
      l.is_full = room.empty();
      if (length == 0) return;
      l.talk.note_sent(length, now);
      l.memory->commit(length);
    }
  }

  /// Looks again until the spin budget is used up, then sleeps until the next connection in turn has a reply. Since
  /// each connection has a request under way, that reply comes as soon as others.
  void rest() {
    for (const auto begun = now_ns(); spin_ns_ != 0 && now_ns() - begun < spin_ns_;)
      for (int i = 0; i < looks_per_clock; ++i)
        if (poll_all()) return;
    link* const next = next_in_turn();
    if (!next) return;
    const auto begun = now_ns();
    const auto longest = next->is_full ? full_wait_ns : idle_wait_ns;
    if (next->memory->wait(std::chrono::nanoseconds(longest)) || now_ns() - begun >= longest) return;
    lose(*next);  // it waits for less than it may only if the connection has ended
  }

  link* next_in_turn() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      link& l = links_[turn_++ % links_.size()];
      if (l.memory && l.talk.outstanding() != 0) return &l;
    }
    return nullptr;
  }

  void lose(link& l) {
    const auto lost = l.talk.outstanding();
    const error_code why = l.memory->end_reason();
    tally_.fail(std::max<std::uint64_t>(lost, 1), why ? why.message() : "the server closed the connection");
    drop(l);
  }

  void drop(link& l) {
    l.memory.reset();
    --open_;
  }

  bool drained() const {
    if (control_.at() != phase::draining) return false;
    if (patience_is_over()) return true;
    return std::none_of(links_.begin(), links_.end(),
                        [](const link& l) { return l.memory && l.talk.outstanding() != 0; });
  }

  /// Closes a connection at the end of the run. Requests without a reply count as failed.
  void close_at_end(link& l) {
    if (l.memory && l.talk.outstanding() != 0) tally_.fail(l.talk.outstanding(), "no reply by the end");
    l.memory.reset();
  }

  const std::uint64_t spin_ns_;
  std::vector<link> links_;
  std::size_t open_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<worker> make_shm_client(control& c, unsigned first, unsigned step) {
  return std::make_unique<shm_client>(c, first, step);
}

}  // namespace quintet::bench
