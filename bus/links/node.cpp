// SPDX-License-Identifier: BSL-1.0
// node: starts and ends a node, and makes and destroys its links and connections.
#include "node.hpp"

#include "in_process.hpp"

#include <algorithm>
#include <new>
#include <random>
#include <string_view>
#include <utility>

namespace quintet::bus {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U | device()) | 1U;  // not 0
}

listen_options listener_of(std::string_view at, const bus_options& o) {
  const bool is_unix = at.starts_with("unix:");
  if (at.starts_with("tcp:")) at.remove_prefix(4);
  listen_options how{std::string(at)};
  how.socket = o.connecting.socket;
  if (!is_unix) return how;
  how.may_connect = is_own_user;
  if (!at.starts_with("unix:@")) how.mode = 0600;
  if (!o.shared_memory) return how;
  how.upgrade = connection_upgrade::shared_memory;
  how.shared_memory.ring_size = o.ring_size;
  how.shared_memory.connections_per_file = o.connections_per_file;
  return how;
}

server_options server_options_of(const bus_options& o) {
  server_options s{.listen = {}, .engine = o.engine, .log = o.log};
  for (const std::string& at : o.listen) s.listen.push_back(listener_of(at, o));
  s.limits.first_byte_timeout = s.limits.message_timeout = o.connecting.timeout;
  s.limits.min_receive_rate = 4096;
  s.limits.linger_timeout = duration::zero();  // what was not acknowledged is sent again
  s.accepting.max_connections = 2 * o.max_peers;
  s.advanced.loop = o.loop;
  s.advanced.loop.shared_memory |= o.shared_memory;
  s.make_engine = o.make_engine;
  s.time = o.time;
  return s;
}

bus_options checked(bus_options o) {
  validate(o);
  return o;
}

}  // namespace

node::node(bus_options options) : options_(checked(std::move(options))), random_(random_number()) {
  handler_factory<std::function<wire_handler()>> accepted(
      [this] { return wire_handler{std::make_unique<socket_wire>(*this, nullptr, bus_route::tcp)}; });
  server_ = std::make_unique<server_type>(server_options_of(options_), one_loop(), std::move(accepted));
  loop_ = &server_->main_loop();
  receipts_.emplace(
      loop(), options_.receipt_timeout, options_.max_receipts,
      [this](const completion& done, error_code why) { call(done, why); },
      [this] {
        for (auto& [id, l] : links_) l->use_room();
      });
  in_process::add(*this);
}

// Other nodes post to this loop only while they find it in the table, or through a pipe that is open.
node::~node() {
  finish();
  last_ = nullptr;
  links_.clear();
  memory_wires_.clear();
  receipts_.reset();
  server_.reset();
}

void node::finish() noexcept {
  in_process::remove(*this);
  has_ended_ = true;
  {
    const std::lock_guard lock(posted_mutex_);
    has_finished_ = true;
  }
  take_posted();
  for (auto& [id, l] : links_) {
    l->dialing().stop();
    l->fail_all(errc::stopped);
  }
  receipts_->fail_all(errc::stopped);
  for (const auto& w : memory_wires_) w->abandon();
}

server_core& node::server() noexcept { return *server_; }

std::map<std::uint64_t, bus_route> node::routes() const {
  const std::lock_guard lock(routes_mutex_);
  return routes_;
}

bus_statistics node::statistics() const noexcept {
  bus_statistics sum;
  sum.add(counters_);
  return sum;
}

// ---- Links ----------------------------------------------------------------------------------------------------------

link* node::find(std::uint64_t id) noexcept {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : last_ = found->second.get();
}

link& node::make_link(std::uint64_t id) {
  auto& place = links_[id];
  if (!place) try {
      place = std::make_unique<link>(*this, id);
    } catch (...) {
      links_.erase(id);
      throw;
    }
  return *place;
}

// Callbacks may send to this peer: it has no link any more.
void node::end_link(std::uint64_t id, error_code why) noexcept {
  const auto ended = links_.extract(id);
  if (ended.empty()) return;
  last_ = nullptr;
  if (ended.mapped()->current()) report_route(id, std::nullopt);
  ended.mapped()->fail_all(why);
}

void node::connect(std::uint64_t peer, std::vector<candidate> how) {
  if (!has_ended_) make_link(peer).dialing().use(std::move(how));
}

void node::disconnect(std::uint64_t peer) { end_link(peer, system_error_code(ECANCELED)); }

void node::use_route(std::uint64_t peer, std::optional<bus_route> route) {
  if (link* const l = find(peer)) l->pin(route);
}

// Fails the messages by a post: the timer that calls this belongs to the link.
void node::unreachable(link& l) {
  loop().post([this, id = l.id()]() noexcept {
    link* const found = find(id);
    if (!found || found->current()) return;
    const error_code why = system_error_code(ETIMEDOUT);
    found->dialing().is_on() ? found->fail_all(why) : end_link(id, why);
  });
}

// Both sides may connect at the same time. Then the connection of the smaller id stays.
link* node::link_for_accepted(const hello& h) {
  if (link* const l = find(h.id)) return l->has_pending() && id() < h.id ? nullptr : l;
  return links_.size() < options_.max_peers ? &make_link(h.id) : nullptr;
}

// ---- Connections ----------------------------------------------------------------------------------------------------

void node::attach(link& to, int handle, bus_route route) {
  auto fresh = std::make_unique<socket_wire>(*this, &to, route);
  wire* const w = fresh.get();
  to.set_pending(w);
  // The wire tells the link when it is destroyed, with or without a connection.
  server_->attach(nullptr, handle, wire_handler{std::move(fresh)}, [](error_code) {});
}

bool node::connect_in_process(link& to) {
  auto pipe = std::make_shared<memory_pipe>();
  if (!in_process::post_to(to.id(), *this, [pipe](node& there) { there.accept_in_process(pipe); })) return false;
  memory_wires_.push_back(std::make_shared<memory_wire>(*this, &to, std::move(pipe), 0));
  to.set_pending(memory_wires_.back().get());
  memory_wires_.back()->open();
  return true;
}

void node::accept_in_process(const std::shared_ptr<memory_pipe>& pipe) {
  if (!has_ended_ && !loop().stopping())
    memory_wires_.push_back(std::make_shared<memory_wire>(*this, nullptr, pipe, 1));
}

void node::drop(memory_wire& w) noexcept {
  loop().post([this, kept = w.shared_from_this()]() noexcept { std::erase(memory_wires_, kept); });
}

// ---- Reports --------------------------------------------------------------------------------------------------------

std::optional<bus_route> node::route_of(std::uint64_t peer) const {
  const std::lock_guard lock(routes_mutex_);
  const auto found = routes_.find(peer);
  return found == routes_.end() ? std::nullopt : std::optional(found->second);
}

void node::report_route(std::uint64_t peer, std::optional<bus_route> route) noexcept try {
  {
    const std::lock_guard lock(routes_mutex_);
    if (route)
      routes_[peer] = *route;
    else
      routes_.erase(peer);
  }
  if (options_.on_route) options_.on_route(peer, route);
} catch (...) {
  loop().counters().handler_errors.add();
}

void node::report_room(std::uint64_t peer) noexcept try {
  if (options_.on_room && !has_ended_) options_.on_room(peer);
} catch (...) {
  loop().counters().handler_errors.add();
}

void node::report_failure(std::uint64_t peer, const char* what, error_code why) noexcept try {
  if (why != errc::bad_checksum) counters_.malformed.add();
  if (!options_.log) return;
  const std::string who = peer != 0 ? "node " + std::to_string(peer) : "an unknown node";
  report(options_.log, {severity::warning, "closed a bus connection with " + who + ": " + what, why});
} catch (const std::bad_alloc&) {  // the count remains
}

void node::refuse_for_memory(const completion& done) noexcept {
  counters_.refused.add();
  if (done) call(done, make_error_code(boost::system::errc::not_enough_memory));
}

void node::call(const completion& done, error_code why) noexcept try { done(why); } catch (...) {
  loop().counters().handler_errors.add();
}

}  // namespace quintet::bus
