// SPDX-License-Identifier: BSL-1.0
// client_link: one connect() of a client: attempts, a connection, and attempts again when it is lost.
#pragma once

#include "../../base/metrics/counter.hpp"
#include "../connection/connection_registry.hpp"
#include "../loop/drain_tracker.hpp"
#include "../options/client_options.hpp"
#include "backoff.hpp"
#include "connector.hpp"

#include <boost/intrusive/set.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <random>

namespace quintet {

class client_link;

/// A link in its client's table.
struct link_entry : boost::intrusive::set_base_hook<> {
  link_id id{};
};

/// A client's links, which live on its main loop. Must be destroyed when the loop no longer runs, before the loop.
class client_links {
 public:
  client_links(event_loop& main, const client_options& options, connection_registry& connections);
  ~client_links() { clear(); }
  client_links(const client_links&) = delete;
  client_links& operator=(const client_links&) = delete;

  /// [any thread] Begins the link and takes ownership.
  link_id start(std::unique_ptr<client_link> link) noexcept;
  /// [any thread] See client_core::disconnect(). Throws std::bad_alloc.
  void disconnect(link_id which);

  /// [loop] See client_core::drain(). Links without a connection end now. The others end with theirs. None begins.
  void drain(duration within) noexcept;
  /// [loop] Links that begin from now on end without a report: the client is being destroyed.
  void close() noexcept { closed_ = true; }
  /// [loop] Destroys the links, which wait for an attempt that will not come: the loop has stopped.
  void clear() noexcept;

  /// [any thread] Returns the number of links that have not ended.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t attempts() const noexcept { return attempts_.value(); }
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_.value(); }

 private:
  friend class client_link;
  struct id_of_link {
    using type = link_id;
    const link_id& operator()(const link_entry& l) const noexcept { return l.id; }
  };

  event_loop& main_;
  const client_options& options_;
  connection_registry& connections_;
  drain_tracker drain_tracker_{main_};  // counts connections
  bool draining_ = false, closed_ = false;
  std::mt19937_64 random_;
  std::atomic<std::uint64_t> newest_{0};
  std::atomic<std::size_t> size_{0};
  counter attempts_, failures_;
  boost::intrusive::set<link_entry, boost::intrusive::key_of_value<id_of_link>> all_;
};

/// One link, in one of three states. An attempt is in progress, a connection lives on its own loop, or the link waits
/// for its next attempt. The main loop owns the first and the last. The connection's loop posts results to the main
/// loop.
class client_link : private work_item, private link_entry {
 public:
  virtual ~client_link() = default;

 protected:
  client_link(client_links& all, destination to) : work_item(&client_link::begin), all_(all), to_(std::move(to)) {}

  /// [loop] Main loop only. Makes a connection of the stream, on a loop of the model's choice. If it throws, the caller
  /// still owns the stream.
  virtual void place(stream_handle&& stream) = 0;

  // Reports of the connection's loop. refused() or ended() is the link's last call there.
  void opened(connection_id c) noexcept;
  void refused(error_code why) noexcept {
    refused_why_ = why;
    finish(outcome::refused);
  }
  void ended(bool closed_here) noexcept { finish(closed_here ? outcome::closed_here : outcome::lost); }

 private:
  friend class client_links;
  enum class outcome : unsigned char { refused, closed_here, lost };
  using callback = callback_timer<std::function<void()>>;

  /// Closes the connection, on the main loop. Its last post precedes the link's own, which may destroy the link.
  struct closing_item final : work_item {
    explicit closing_item(client_link& l) noexcept : work_item(&closing_item::run_one), link(l) {}
    static void run_one(work_item& item) noexcept { static_cast<closing_item&>(item).link.close_connection(); }
    client_link& link;
  };
  static constexpr duration retry_after = std::chrono::milliseconds(10);  // if there was no memory

  static client_link& from_item(work_item& item) noexcept { return static_cast<client_link&>(item); }
  static void begin(work_item& item) noexcept;
  static void handle_outcome(work_item& item) noexcept;
  void attempt() noexcept;
  void attempt_ended(error_code failed, stream_handle stream) noexcept;
  void failed(error_code why) noexcept;
  void report_failure(error_code why, std::optional<duration> retry_in) const noexcept;
  void limit_buffers(int handle) const noexcept;
  std::optional<duration> schedule_retry() noexcept;
  void finish(outcome how) noexcept;
  void cancel() noexcept;
  void close_connection() noexcept;
  void give_up() noexcept;
  void remove_self() noexcept;

  client_links& all_;
  const destination to_;
  std::optional<connector> connector_;
  std::optional<backoff> backoff_;
  callback next_{[this] { attempt(); }};
  callback close_later_{[this] { close_connection(); }};
  closing_item close_again_{*this};
  time_point began_{}, connected_{};
  unsigned attempts_ = 0;
  outcome outcome_ = outcome::lost;
  error_code refused_why_;  // for outcome::refused

  std::mutex mutex_;
  connection_id connection_;  // none: no connection, or its loop has not reported it yet
  bool cancelled_ = false;
};

}  // namespace quintet
