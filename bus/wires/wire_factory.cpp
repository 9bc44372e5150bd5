// SPDX-License-Identifier: BSL-1.0
// wire_factory: makes wires of all kinds. The lock of the table is held during a post to a node, so the node still
// exists.
#include "wire_factory.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace quintet::bus {
namespace {

using node_key = std::pair<pid_t, std::uint64_t>;  // after fork() a child process does not find its parent's nodes
struct table {
  std::mutex mutex;
  std::map<node_key, wire_factory*> all;
};

// Never destroyed: a node may end after the static objects.
table& nodes() {
  static table& t = *new table;
  return t;
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

}  // namespace

wire_factory::wire_factory(node_context& node, std::function<wire_user*(const hello&)> accept)
    : host_{node, std::move(accept)},
      server_(server_options_of(node.options()), single_reactor(),
              handler_factory<std::function<wire_handler()>>(
                  [this] { return wire_handler{std::make_unique<socket_wire>(host_, nullptr, bus_route::tcp)}; })) {
  node.set_loop(server_.main_loop());
  table& t = nodes();
  const std::lock_guard lock(t.mutex);
  if (!t.all.try_emplace({::getpid(), node.id()}, this).second)
    throw config_error("id is " + std::to_string(node.id()) +
                       ", as of another node of this process; it must be unique");
}

void wire_factory::close() noexcept {
  {
    table& t = nodes();
    const std::lock_guard lock(t.mutex);
    std::erase_if(t.all, [this](const auto& entry) { return entry.second == this; });
  }
  for (const auto& weak : memory_wires_)
    if (const auto w = weak.lock()) w->abandon();
}

// The wire tells the link when it is destroyed, with or without a connection.
void wire_factory::attach(wire_user& of, stream_handle&& stream, bus_route route, wire*& made) {
  auto fresh = std::make_unique<socket_wire>(host_, &of, route);
  made = fresh.get();
  server_.attach(nullptr, std::move(stream), wire_handler{std::move(fresh)}, [](error_code) {});
}

bool wire_factory::connect_in_process(wire_user& of, wire*& made) {
  auto pipe = std::make_shared<memory_pipe>();
  {
    table& t = nodes();
    const std::lock_guard lock(t.mutex);
    const auto found = t.all.find({::getpid(), of.id()});
    if (found == t.all.end() || found->second == this) return false;
    wire_factory& there = *found->second;
    there.host_.node.loop().post(
        [&there, pipe]() noexcept { there.host_.node.guarded([&] { there.accept_in_process(pipe); }); });
  }
  made = &make(&of, pipe, 0);
  return true;
}

void wire_factory::accept_in_process(const std::shared_ptr<memory_pipe>& pipe) {
  node_context& node = host_.node;
  if (!node.has_ended() && !node.loop().stopping()) make(nullptr, pipe, 1);
}

memory_wire& wire_factory::make(wire_user* of, const std::shared_ptr<memory_pipe>& pipe, unsigned side) {
  std::erase_if(memory_wires_, [](const auto& w) { return w.expired(); });
  std::weak_ptr<memory_wire>& noted = memory_wires_.emplace_back();  // may throw, so it comes first
  const auto made = std::make_shared<memory_wire>(host_, of, pipe, side);
  made->begin();
  noted = made;
  return *made;
}

}  // namespace quintet::bus
