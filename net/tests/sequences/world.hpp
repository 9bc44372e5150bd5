// SPDX-License-Identifier: BSL-1.0
// world: a server of connections of every kind on a network in memory, its clients, and the order in which they act.
#pragma once

#include "sequences/coroutine_program.hpp"
#include "sequences/reference_model.hpp"

#include <quintet/net/connection/connection_host.hpp>
#include <quintet/net/connection/session_manager.hpp>
#include <quintet/net/event_loop.hpp>
#include <quintet/net/testing/memory_network.hpp>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace quintet::testing {

/// Performs a sequence, step by step. One setting and the same steps: one run.
class sequence_world final : public stage, private detail::session_manager {
 public:
  explicit sequence_world(const setting& s);
  ~sequence_world() override;
  /// What was not as it must be; empty: nothing.
  std::string run(const std::vector<step>& steps);
  /// Of everything that clients have received, and of how connections came and went, in this order.
  [[nodiscard]] std::uint64_t trace() const noexcept { return trace_; }

  // What programs ask of their stage.
  life* at(unsigned place) override { return clients_.at(place).of; }
  event_loop* loop(unsigned number) override;
  [[nodiscard]] time_point now() const override { return clock_.now(); }
  std::string target(bool answers) override { return answers ? "127.0.0.1:7" : "127.0.0.1:9"; }
  void dawdle(unsigned turns) override;
  std::uint64_t arrived(const life& l) override;

 private:
  struct client {
    int handle = -1;
    life* of = nullptr;
    std::string kept_back;
    std::uint32_t next_command = 0;
    bool reads = true;
    record_reader reader;
    reference_model::received so_far;
  };
  class door;
  /// Runs items here, or keeps them for later.
  class pool;

  // Sessions call these functions of their manager.
  [[nodiscard]] bool runs_here(const event_loop& on) const noexcept override {
    return !setting_.pooled() || &on == host_.priority_loop;
  }
  [[nodiscard]] bool can_migrate() const noexcept override { return true; }
  void retire(detail::connection_core& ended, destroy_function destroy) noexcept override;
  void discard(detail::connection_core& migrated, destroy_function destroy) noexcept override;
  detail::connection_core* migrate(detail::connection_core& from, event_loop& to,
                                   migrate_function make) noexcept override {
    return make(from, to, host_);
  }

  // The server (world_server.cpp).
  sequence_world(const setting& s, std::unique_ptr<pool> model);
  event_loop& make_loop();
  event_loop& place();
  void accepted(int handle);
  template <class Program>
  void open_session(event_loop& on, int handle, life& l) noexcept;
  life& life_for(event_loop& on, int handle);
  void left() noexcept;
  void shut_door() noexcept;
  void drain();
  void stop_on();  // as far as it can be done now
  bool turn();
  void turn_until_rest();

  // Clients and time (world.cpp).
  void perform_step(const step& s);
  void act_as_client(client& c, const step& s);
  void act_from_outside(const step& s);
  void connect(client& c, const step& s);
  void give_command(client& c, const step& s);
  void deliver(client& c, std::size_t keeps);
  void receive(client& c, std::size_t most);
  void leave(client& c, bool resets);
  bool receive_all();
  void come_to_rest();
  void pass(duration time);
  void measure(client& c);
  void check_tail(const client& c);
  void check();
  void finish();

  const setting& setting_;
  const std::unique_ptr<pool> pool_;
  connection_host host_;
  memory_network network_;
  manual_clock clock_;
  std::minstd_rand random_;
  std::deque<life> lives_;
  life nobody_;
  std::map<int, life*> life_of_;  // by the client's handle
  std::array<client, places> clients_;
  reference_model model_{setting_, *this};
  std::vector<work_item*> offloaded_;
  std::deque<event_loop> loops_;  // the first is the main one
  std::vector<event_loop*> ring_, free_loops_;
  std::unique_ptr<door> door_;
  std::size_t next_loop_ = 0;
  // FNV-1a, of whole numbers.
  void note(std::uint64_t what) noexcept { trace_ = (trace_ ^ what) * 0x100000001b3U; }
  std::uint64_t trace_ = 0xcbf29ce484222325U;
  int open_ = 0;  // connections that have been accepted, and not gone
  int dawdling_ = 0;
  enum class stage_of_stop { none, main, ring, priority_loop } stopping_ = stage_of_stop::none;
};

}  // namespace quintet::testing
