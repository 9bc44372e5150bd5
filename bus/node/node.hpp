// SPDX-License-Identifier: BSL-1.0
// node: the part of a bus_node that lives on its loop: its links, and the way of each message.
#pragma once

#include "../links/link.hpp"
#include "../messages/receipts.hpp"
#include "../wires/wire_factory.hpp"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace quintet::bus {

/// Owns all parts: a context, the wire factory, the links, which use these two, and the receipts. Functions without a
/// tag: [loop].
class node final : private link_user {
 public:
  /// Throws config_error, and boost::system::system_error (an address in use).
  explicit node(bus_options options);
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// [any thread]
  [[nodiscard]] node_context& context() noexcept { return context_; }
  [[nodiscard]] server_core& server() noexcept { return wires_.server(); }

  void connect(std::uint64_t peer, std::vector<candidate> all) noexcept;
  void disconnect(std::uint64_t peer) noexcept { end_link(peer, system_error_code(ECANCELED)); }
  void use_route(std::uint64_t peer, std::optional<bus_route> route) noexcept {
    if (link* const l = find(peer)) l->pin(route);
  }
  /// Takes a message. Throws std::bad_alloc without effect.
  error_code send(std::uint64_t to, bytes payload) {
    if (payload.size() > context_.options().max_message) return errc::message_too_big;
    link* l = last_;
    if (!l || l->id() != to) [[unlikely]] {
      last_ = l = find(to);
      if (!l) return send_routed(to, payload, {});
    }
    const error_code failed = l->append({frame_type::message}, {}, payload);
    if (!failed) context_.counters().sent.add();
    return failed;
  }
  /// The same with a completion, which is called only if the result is no error.
  error_code send(std::uint64_t to, bytes payload, completion done);
  /// [any thread] The same from another thread.
  error_code post(std::uint64_t to, bytes payload, completion done);
  /// The loop has ended: fails all that waits.
  void finish() noexcept;

 private:
  void unreachable(link& l) override;
  void routed(link& from, const frame_header& h, const routing& r, bytes body) override;

  [[nodiscard]] link* find(std::uint64_t id) const noexcept;
  link& make_link(std::uint64_t id);
  void end_link(std::uint64_t id, error_code why) noexcept;
  /// Returns the link of an accepted wire, or nullptr if the peer is refused.
  [[nodiscard]] link* link_for_accepted(const hello& h);
  [[nodiscard]] link* next_hop(std::uint64_t to, const link* from) const noexcept;
  void learn(std::uint64_t source, const link& by) noexcept;
  error_code send_routed(std::uint64_t to, bytes payload, completion done);
  [[nodiscard]] error_code forward(const link& from, const frame_header& h, std::uint64_t to, bytes body) noexcept;
  void send_receipt(const routing& r, std::uint8_t flags, error_code why) noexcept;
  void take_posted();
  [[nodiscard]] bool take_one(mailbox::message& m, bytes payload) noexcept;

  node_context context_;
  link* last_ = nullptr;  // of send()
  std::unordered_map<std::uint64_t, std::unique_ptr<link>> links_;
  std::unordered_map<std::uint64_t, std::uint64_t> learned_;  // source -> link's id
  wire_factory wires_;  // after the links: its destructor runs posted functions, which may use them
  receipts receipts_;
};

}  // namespace quintet::bus
