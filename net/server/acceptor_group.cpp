// SPDX-License-Identifier: BSL-1.0
// acceptor_group: makes listeners for the accept strategy, or for the nearest one that is available.
#include "acceptor_group.hpp"

#include "../engine/file_descriptor.hpp"
#include "../engine/shm/offer.hpp"
#include "../engine/socket_services.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <span>
#include <utility>

#include <boost/system/system_error.hpp>

namespace quintet {

acceptor_group::acceptor_group(event_loop& main, std::vector<event_loop*> loops, const server_options& options,
                               connection_limiter& limiter, acceptor::admit_function admit, model_interface* model)
    : main_(main),
      loops_(std::move(loops)),
      options_(options),
      strategy_(options.advanced.accept),
      limiter_(limiter),
      admit_(std::move(admit)),
      model_(model) {
  resolve_strategy();
}

// Replaces the strategy at most once, so that one warning names the strategy in use.
void acceptor_group::resolve_strategy() {
  using enum accept_strategy;
  if (strategy_ == main_reactor) return;
  if (loops_.empty()) return fall_back(main_reactor, "the model has no permanent loops of its own");
  const auto all = [&](accept_strategy by) {
    return std::ranges::all_of(loops_, [&](event_loop* l) { return l->io().capabilities().can_accept_by(by); });
  };
  if (!all(strategy_)) return fall_back(all(reuse_port) ? reuse_port : main_reactor, "the engine does not support it");
  if (strategy_ != reuse_port_cpu) return;
  std::set<int> cpus;
  for (const event_loop* l : loops_) cpus.insert(l->options().cpu);
  if (cpus.contains(-1) || cpus.size() < loops_.size()) fall_back(reuse_port, "each loop needs a CPU of its own");
}

void acceptor_group::fall_back(accept_strategy to, const std::string& why) {
  const std::string what = "accept: " + std::string(to_string(strategy_)) + " is not available: " + why;
  if (options_.advanced.accept_strictly) throw config_error(what);
  report(options_.log, {severity::warning, what + "; " + std::string(to_string(to)) + " is used instead"});
  strategy_ = to;
}

address acceptor_group::listen(const listen_options& options) {
  const address at = listen_at(options);
  if (options.upgrade == connection_upgrade::shared_memory) (void)listen_at(shm::offer_listener_options(options));
  return at;
}

address acceptor_group::listen_at(const listen_options& options) {
  if (strategy_ == accept_strategy::main_reactor) return listen_on(main_, options).at();
  // A Unix path, and a socket of a parent process, allow only one socket.
  const bool is_one = options.descriptor >= 0 || !address(options.at).is_ip();
  return is_one || strategy_ == accept_strategy::exclusive ? listen_on_all_at_once(options) : listen_on_each(options);
}

acceptor& acceptor_group::on(event_loop& loop) {
  for (const auto& a : acceptors_)
    if (&a->loop() == &loop) return *a;
  return *acceptors_.emplace_back(
      std::make_unique<acceptor>(loop, options_.accepting, options_.memory, limiter_, options_.log, admit_, model_));
}

listener& acceptor_group::listen_on(event_loop& loop, const listen_options& options, bool shared) {
  listener& made = on(loop).listen(options, shared);
  made.set_busy_poll(options_.advanced.busy_poll);
  return made;
}

// If the port is 0, the first listener gets one from the system, and the others bind to it.
address acceptor_group::listen_on_each(listen_options options) {
  if (options.sharing == port_sharing::none) options.sharing = port_sharing::first_loop;
  std::vector<int> handles, cpus;
  address at;
  for (event_loop* const loop : loops_) {
    const listener& made = listen_on(*loop, options);
    handles.push_back(made.handle());
    cpus.push_back(loop->options().cpu);
    at = made.at();
    options.at = at.to_string();
    if (options.sharing == port_sharing::first_loop) options.sharing = port_sharing::next_loop;
  }
  if (strategy_ == accept_strategy::reuse_port_cpu) steer(handles, cpus, options.sharing);
  return at;
}

// The kernel numbers the sockets of a port, those of other processes too, so a program that knows only ours would leave
// theirs without connections.
void acceptor_group::steer(std::span<const int> handles, std::span<const int> cpus, port_sharing sharing) {
  if (sharing == port_sharing::processes)
    return fall_back(accept_strategy::reuse_port, "other processes may listen at the same port");
  if (const error_code refused = main_.io().sockets().steer_by_cpu(handles, cpus))
    fall_back(accept_strategy::reuse_port, "the kernel cannot select the loop by CPU: " + refused.message());
}

// If an engine cannot watch one socket from several loops, the main loop accepts.
address acceptor_group::listen_on_all_at_once(const listen_options& options) {
  if (loops_.front()->options().own_descriptors)
    throw config_error("own_descriptors is true; it must be false with " +
                       (options.descriptor >= 0 ? "descriptor " + std::to_string(options.descriptor) : options.at) +
                       ", whose only socket serves all loops");
  const auto can = [](event_loop* l) { return l->io().capabilities().exclusive_accept; };
  if (!std::ranges::all_of(loops_, can)) return listen_on(main_, options).at();
  const listener& first = listen_on(*loops_.front(), options, true);
  for (event_loop* const loop : std::span(loops_).subspan(1)) {
    listen_options same = options;
    file_descriptor copy(::fcntl(first.handle(), F_DUPFD_CLOEXEC, 0));
    if (!copy) throw_system_error(errno, "cannot listen on " + options.at);
    same.descriptor = copy.get();
    listen_on(*loop, same, true).share_socket_of(first);
    (void)copy.release();
  }
  return first.at();
}

void acceptor_group::start() {
  for (const auto& a : acceptors_) a->start();
}

void acceptor_group::close(drain_tracker& unfinished) {
  for (const auto& a : acceptors_) {
    if (&a->loop() == &main_)
      a->close();
    else
      unfinished.run_on(a->loop(), [&a = *a]() noexcept { a.close(); });
  }
}

}  // namespace quintet
