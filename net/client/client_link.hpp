// SPDX-License-Identifier: BSL-1.0
// client_link: what one connect() of a client becomes: attempts, a connection, and attempts again when it is lost.
#pragma once

#include "../../base/metrics/counter.hpp"
#include "../connection/connection_registry.hpp"
#include "../loop/drainage.hpp"
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

/// A client's links, which live on its main loop. Must be destroyed before the loop, and when the loop runs no more.
class client_links {
 public:
  client_links(event_loop& main, const client_options& options, connection_registry& connections);
  ~client_links() { clear(); }
  client_links(const client_links&) = delete;
  client_links& operator=(const client_links&) = delete;

  /// [any thread] Begins; the link belongs to this from now on.
  link_id start(std::unique_ptr<client_link> link) noexcept;
  /// [any thread] See basic_client::disconnect().
  void disconnect(link_id which);

  /// [loop] See basic_client::drain(): links without a connection end now, the others with it, and none begins.
  void drain(duration within) noexcept;
  /// [loop] From now on nothing is begun, nor told: the client goes.
  void close() noexcept { closed_ = true; }
  /// [loop] Ends those that wait for their next attempt, which will not come: the loop has stopped.
  void clear() noexcept;

  /// [any thread] Links that are not over.
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
  drainage drainage_{main_};  // of connections
  bool draining_ = false, closed_ = false;
  std::mt19937_64 random_;
  std::atomic<std::uint64_t> newest_{0};
  std::atomic<std::size_t> size_{0};
  counter attempts_, failures_;
  boost::intrusive::set<link_entry, boost::intrusive::key_of_value<id_of_link>> all_;
};

/// Always in one state: an attempt is under way; a connection lives, on its own loop; or the link waits for its next
/// attempt. The first and the last are the main loop's; what comes back from the connection's loop is posted.
class client_link : private work_item, private link_entry {
 public:
  virtual ~client_link() = default;

 protected:
  client_link(client_links& all, destination to) : work_item(&client_link::begin), all_(all), to_(std::move(to)) {}

  /// [loop] The main loop's. Makes a connection of the handle, on a loop of the model's choice. When this throws, the
  /// handle is still the caller's.
  virtual void place(int handle) = 0;

  // What the connection's loop tells. One of the last two is the link's last call there.
  void opened(connection_id c) noexcept;
  void refused() noexcept { finish(outcome::refused); }
  void ended(bool closed_here) noexcept { finish(closed_here ? outcome::closed_here : outcome::lost); }

 private:
  friend class client_links;
  enum class outcome : unsigned char { refused, closed_here, lost };
  using callback = callback_timer<std::function<void()>>;

  /// Closes the connection, on the main loop. Its last post comes before the link's own, which may destroy the link.
  struct closing_item final : work_item {
    explicit closing_item(client_link& l) noexcept : work_item(&closing_item::run_one), link(l) {}
    static void run_one(work_item& item) noexcept { static_cast<closing_item&>(item).link.close_connection(); }
    client_link& link;
  };
  static constexpr duration retry_after = std::chrono::milliseconds(10);  // when there was no memory

  static client_link& of(work_item& item) noexcept { return static_cast<client_link&>(item); }
  static void begin(work_item& item) noexcept;
  static void is_home(work_item& item) noexcept;
  void attempt() noexcept;
  void attempt_ended(error_code failed, int handle) noexcept;
  void failed(error_code why) noexcept;
  void tell(error_code why, std::optional<duration> again) const noexcept;
  void bound_buffers(int handle) const noexcept;
  std::optional<duration> try_again() noexcept;
  void finish(outcome how) noexcept;
  void cancel() noexcept;
  void close_connection() noexcept;
  void give_up() noexcept;
  void over() noexcept;

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

  std::mutex mutex_;
  connection_id connection_;  // none: there is no connection, or it has not said so yet
  bool cancelled_ = false;
};

}  // namespace quintet
