// SPDX-License-Identifier: BSL-1.0
// node: the part of a bus_node that lives on its loop: links, routing, receipts, and messages from other threads.
#pragma once

#include "../../net/server/basic_server.hpp"
#include "bus_options.hpp"
#include "frames.hpp"
#include "link.hpp"
#include "memory_wire.hpp"
#include "receipts.hpp"
#include "send_queue.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace quintet::bus {

/// All connections live on the server's main loop, and handlers run there.
class one_loop {
 public:
  void start(event_loop& main) noexcept { main_ = &main; }
  event_loop& place() noexcept { return *main_; }
  static void run(work_item& item) noexcept { item(); }
  static void stop() noexcept {}
  [[nodiscard]] static bool runs_inline() noexcept { return true; }

 private:
  event_loop* main_ = nullptr;
};

/// A message that another thread has posted.
struct posted_message {
  std::uint64_t to;
  std::size_t size;
  completion done;  // may be empty
};

/// Returns what a message counts for in max_posted.
[[nodiscard]] constexpr std::size_t posted_cost(std::size_t size) noexcept { return size + 64; }
static_assert(sizeof(posted_message) <= 64);

/// Functions without a tag: [loop].
class node {
 public:
  /// Throws config_error, and boost::system::system_error (an address in use).
  explicit node(bus_options options);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// [any thread]
  [[nodiscard]] const bus_options& options() const noexcept { return options_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return options_.id; }
  [[nodiscard]] server_core& server() noexcept;
  [[nodiscard]] event_loop& loop() noexcept { return *loop_; }
  [[nodiscard]] std::optional<bus_route> route_of(std::uint64_t peer) const;
  [[nodiscard]] std::map<std::uint64_t, bus_route> routes() const;
  [[nodiscard]] bus_statistics statistics() const noexcept;

  void connect(std::uint64_t peer, std::vector<candidate> how);
  void disconnect(std::uint64_t peer);
  void use_route(std::uint64_t peer, std::optional<bus_route> route);
  /// Takes a message. Throws std::bad_alloc without effect.
  error_code send(std::uint64_t to, bytes payload) {
    if (payload.size() > options_.max_message) return errc::message_too_big;
    link* const l = last_ && last_->id() == to ? last_ : find(to);
    if (!l) [[unlikely]]
      return send_routed(to, payload, {});
    const error_code failed = append(*l, {frame_type::message}, {}, payload);
    if (!failed) counters_.sent.add();
    return failed;
  }
  /// The same with a completion, which is called only if the result is no error.
  error_code send(std::uint64_t to, bytes payload, completion done);
  /// Appends to a link's queue. `done` is moved from only if the result is no error.
  error_code send_on(link& l, bytes payload, completion& done);
  /// [any thread] The same from another thread.
  error_code post(std::uint64_t to, bytes payload, completion done);
  /// A posted message has left the memory that max_posted bounds.
  void release_posted(std::size_t size) noexcept;
  /// The loop has ended: fails all that waits.
  void finish() noexcept;

  // For links and wires.
  [[nodiscard]] bus_figures<counter>& counters() noexcept { return counters_; }
  [[nodiscard]] chunk_store& chunks() noexcept { return chunks_; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
  void attach(link& to, int handle, bus_route route);
  [[nodiscard]] bool connect_in_process(link& to);
  /// Returns the link of an accepted wire, or nullptr if the peer is refused.
  [[nodiscard]] link* link_for_accepted(const hello& h);
  void unreachable(link& l);
  void drop(memory_wire& w) noexcept;
  void report_route(std::uint64_t peer, std::optional<bus_route> route) noexcept;
  void report_room(std::uint64_t peer) noexcept;
  /// Logs that a connection of this peer was closed; 0: it is unknown.
  void report_failure(std::uint64_t peer, const char* what, error_code why) noexcept;
  void call(const completion& done, error_code why) noexcept;
  /// There was no memory for a message of another thread. `done` may be empty.
  void refuse_for_memory(const completion& done) noexcept;
  /// Adds a message to the batch for on_messages, which deliver() calls.
  void add(const bus_message& m) {
    batch_[batch_size_++] = m;
    if (batch_size_ == batch_.size()) [[unlikely]]
      deliver();
  }
  /// Exceptions are those of on_messages.
  void deliver();
  /// Delivers, forwards or drops a routed message. `body` has `r` at its front.
  void take_routed(link& from, const frame_header& h, const routing& r, bytes body);

 private:
  using server_type = basic_server<one_loop, handler_factory<std::function<wire_handler()>>>;

  [[nodiscard]] link* find(std::uint64_t id) noexcept;
  link& make_link(std::uint64_t id);
  void end_link(std::uint64_t id, error_code why) noexcept;
  [[nodiscard]] link* next_hop(std::uint64_t to, const link* from) noexcept;
  void learn(std::uint64_t source, const link& by);
  /// Appends a frame to a link's queue: `before` and `payload` are its body.
  error_code append(link& l, frame_header h, bytes before, bytes payload);
  error_code send_routed(std::uint64_t to, bytes payload, completion done);
  error_code send_to_self(bytes payload, completion done);
  void give_back(const routing& r, std::uint8_t flags, error_code why);
  void take_posted();
  [[nodiscard]] bool take_one(posted_message& m, bytes payload) noexcept;
  void deliver_to_self(bytes payload) noexcept;
  void accept_in_process(const std::shared_ptr<memory_pipe>& pipe);

  const bus_options options_;
  std::mt19937_64 random_;
  event_loop* loop_ = nullptr;  // the server's; valid while the server is being destroyed, too
  bool has_ended_ = false;      // what was posted and has not run does nothing
  bus_figures<counter> counters_;
  chunk_store chunks_;
  link* last_ = nullptr;  // of send()
  std::array<bus_message, 64> batch_{};
  std::size_t batch_size_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<link>> links_;
  std::unordered_map<std::uint64_t, std::uint64_t> learned_;  // source -> link's id
  std::vector<std::shared_ptr<memory_wire>> memory_wires_;
  std::unique_ptr<server_type> server_;
  std::optional<receipts> receipts_;

  std::mutex posted_mutex_;  // guards the following
  std::string posted_bytes_;
  std::vector<posted_message> posted_;
  std::size_t posted_size_ = 0;  // bytes, also of those that links keep
  bool is_posted_ = false, has_finished_ = false;

  mutable std::mutex routes_mutex_;
  std::map<std::uint64_t, bus_route> routes_;
};

inline error_code node::append(link& l, frame_header h, bytes before, bytes payload) {
  send_queue& out = l.out();
  const std::size_t body = before.size() + payload.size(), size = prefix_size + header_size + body;
  char* const place = out.reserve(size);
  if (!place) [[unlikely]] {
    l.note_full();
    return errc::output_full;
  }
  char* const at = place + prefix_size + header_size;
  if (!before.empty()) std::memcpy(at, before.data(), before.size());
  std::memcpy(at + before.size(), payload.data(), payload.size());
  h.sequence = static_cast<std::uint32_t>(out.last() + 1);
  seal(place, h, body);
  if (wire* const w = l.current()) w->request_flush();  // may throw, so it comes before the effect
  out.commit(size);
  return {};
}

}  // namespace quintet::bus
