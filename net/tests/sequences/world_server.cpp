// SPDX-License-Identifier: BSL-1.0
// world_server: the server of a sequence, and who takes the next turn.
#include "world.hpp"

#include <quintet/net/connection/stream_session.hpp>
#include <quintet/net/engine/socket_services.hpp>
#include <quintet/net/event_loop.hpp>

#include <algorithm>

namespace quintet::testing {

class sequence_world::door final : public accept_channel {
 public:
  door(sequence_world& of, event_loop& on) : world_(of), on_(on) {
    listens_ = on.io().sockets().listen({"127.0.0.1:7"});
    on.io().add(*this, listens_);
  }
  ~door() {
    on_.io().remove(*this);
    on_.io().close(listens_);
  }

 private:
  void on_accepted(int handle) noexcept override { world_.accepted(handle); }
  void on_accept_error(error_code) noexcept override {}
  sequence_world& world_;
  event_loop& on_;
  int listens_ = -1;
};

class sequence_world::pool final : public model_interface {
 public:
  explicit pool(sequence_world& world) noexcept : world_(world) {}

  void start(event_loop& /*main*/) override {}
  void stop() noexcept override {}
  event_loop& place() override { return world_.place(); }
  void run(work_item& item) noexcept override {
    if (world_.setting_.runs_known_cost && item.cost().is_known()) return item();
    item.hand_off();
    world_.offloaded_.push_back(&item);
  }

 private:
  sequence_world& world_;
};

sequence_world::sequence_world(const setting& s) : sequence_world(s, std::make_unique<pool>(*this)) {}

sequence_world::sequence_world(const setting& s, std::unique_ptr<pool> model)
    : session_manager(*model),
      setting_(s),
      pool_(std::move(model)),
      host_(s.limits, {.max_output_total = std::size_t{1} << 30U, .max_input_total = std::size_t{1} << 30U}, {}),
      network_(s.seed),
      random_(static_cast<std::uint32_t>(s.seed)) {
  network_.window = s.window;
  network_.set_silent(address("127.0.0.1:9"), true);
  event_loop& main = make_loop();
  host_.priority_loop = &make_loop();
  for (unsigned i = 0; i < s.loops(); ++i) ring_.push_back(&make_loop());
  host_.loops = ring_;
  door_ = std::make_unique<door>(*this, main);
}

sequence_world::~sequence_world() = default;

event_loop& sequence_world::make_loop() { return loops_.emplace_back(network_.make_engine(), clock_); }

event_loop& sequence_world::place() {
  if (!ring_.empty()) return *ring_[next_loop_++ % ring_.size()];
  if (!setting_.own_loops()) return loops_.front();
  if (free_loops_.empty()) return make_loop();
  event_loop& free = *free_loops_.back();
  free_loops_.pop_back();
  return free;
}

event_loop* sequence_world::loop(unsigned number) { return ring_.empty() ? nullptr : ring_[number % ring_.size()]; }

void sequence_world::discard(detail::connection_core& migrated, destroy_function destroy) noexcept {
  event_loop& on = migrated.loop_;
  destroy(migrated);
  if (setting_.own_loops()) free_loops_.push_back(&on);
}

void sequence_world::retire(detail::connection_core& ended, destroy_function destroy) noexcept {
  discard(ended, destroy);
  left();
}

// By the client's handle, from which the network makes its port. Without one, the connection is this server's own, or
// the client has gone already.
life& sequence_world::life_for(event_loop& on, int handle) {
  const address from = on.io().sockets().remote_address(handle);
  const auto found = from.is_ip() ? life_of_.find(from.port() - 10'000) : life_of_.end();
  if (found != life_of_.end()) return *found->second;
  life& l = lives_.emplace_back();
  l.number = static_cast<unsigned>(lives_.size());
  l.kind = static_cast<flavour>(l.number % flavours);
  l.limits = setting_.limits;
  l.note_limits();
  return l;
}

void sequence_world::accepted(int handle) {
  ++open_;
  note(static_cast<std::uint64_t>(handle));
  event_loop& main = loops_.front();
  life& l = life_for(main, handle);
  event_loop& on = place();
  const auto begin = [this, &on, &l, handle]() noexcept {
    switch (l.kind) {
      case flavour::plain:
        return open_session<plain_program>(on, handle, l);
      case flavour::full:
        return open_session<full_program>(on, handle, l);
      case flavour::classified:
        return open_session<classified_program>(on, handle, l);
      case flavour::coroutine:
        return open_session<coroutine_program>(on, handle, l);
    }
  };
  if (&on == &main) return begin();
  on.post(begin);
}

template <class Program>
void sequence_world::open_session(event_loop& on, int handle, life& l) noexcept {
  auto session = detail::session_for<Program>::make(*this, on, host_, Program(*this, l));
  if (!session->begin(handle)) return void(session.release());  // owns itself from here on
  on.io().close(handle);
  session.reset();
  left();
}

void sequence_world::left() noexcept {
  note(static_cast<std::uint64_t>(open_));
  if (--open_ == 0 && model_.draining && stopping_ == stage_of_stop::none) stopping_ = stage_of_stop::main;
}

void sequence_world::shut_door() noexcept { door_.reset(); }

void sequence_world::drain() {
  if (model_.draining || stopping_ != stage_of_stop::none) return;
  model_.draining = true;
  for (life& l : lives_) l.due_in_drain = l.whole_lines;
  event_loop& main = loops_.front();
  main.post([this]() noexcept {
    shut_door();
    host_.registry.drain();
    if (open_ == 0) stopping_ = stage_of_stop::main;
    loops_.front().after(std::chrono::seconds(5), [this] {
      if (stopping_ == stage_of_stop::none) stopping_ = stage_of_stop::main;
    });
  });
}

// As a server does it: the main loop first, then its model's, then the priority loop.
void sequence_world::stop_on() {
  if (stopping_ == stage_of_stop::none) return;
  event_loop& main = loops_.front();
  if (!main.stopping()) {
    main.post([this]() noexcept { shut_door(); });
    main.stop();
  }
  if (stopping_ == stage_of_stop::main && main.finished()) {
    host_.registry.end_moves();
    for (event_loop& l : loops_)
      if (&l != host_.priority_loop) l.stop();
    stopping_ = stage_of_stop::ring;
  }
  const auto is_finished = [&](const event_loop& l) { return &l == host_.priority_loop || l.finished(); };
  if (stopping_ == stage_of_stop::ring && std::ranges::all_of(loops_, is_finished)) {
    host_.priority_loop->stop();
    stopping_ = stage_of_stop::priority_loop;
  }
}

// One loop, or one item on the pool.
bool sequence_world::turn() {
  stop_on();
  const std::size_t pick = random_() % (loops_.size() + (offloaded_.empty() ? 0 : 2));
  if (pick < loops_.size()) return loops_[pick].poll();
  std::swap(offloaded_[random_() % offloaded_.size()], offloaded_.back());
  work_item* const item = offloaded_.back();
  offloaded_.pop_back();
  if (item->can_shed() && random_() % 8 == 0) item->mark_expired();
  (*item)();
  return true;
}

// A pool's thread is slow, and the loops go on.
void sequence_world::dawdle(unsigned turns) {
  if (event_loop::current() || dawdling_ > 1) return;
  ++dawdling_;
  for (unsigned i = 0; i < turns; ++i) (void)turn();
  --dawdling_;
}

void sequence_world::turn_until_rest() {
  constexpr unsigned too_many = 30'000;
  for (unsigned rounds = 0, still = 0; still < 2; ++rounds) {
    if (rounds > too_many) return report(nobody_, "the loops do not come to rest");
    bool worked = false;
    const std::size_t first = random_() % loops_.size();
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      stop_on();
      worked |= loops_[(first + i) % loops_.size()].poll();
      if (!offloaded_.empty()) worked |= turn();
    }
    still = worked || !offloaded_.empty() ? 0 : still + 1;
  }
}

}  // namespace quintet::testing
