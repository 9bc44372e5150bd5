// SPDX-License-Identifier: BSL-1.0
// listen_options: what may not be, and what the parent process has left.
#include "listen_options.hpp"

#include "../../base/error.hpp"
#include "../names/address_prefix.hpp"
#include "loop_options.hpp"
#include "require.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <unistd.h>

namespace quintet {
namespace {

using detail::require_value;

constexpr int first_inherited = 3;  // SD_LISTEN_FDS_START: those after the standard ones
constexpr int most_inherited = 1'000'000;

std::string name_of(const listen_options& o) {
  return o.descriptor >= 0 ? "descriptor " + std::to_string(o.descriptor) : o.at;
}

/// The value of a variable of the protocol; nothing when it is not set.
std::optional<int> number_in(const char* variable, int most) {
  const char* text = std::getenv(variable);
  if (!text) return std::nullopt;
  const std::string_view all(text);
  int value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error == std::errc() && end == all.data() + all.size() && value >= 0 && value <= most) return value;
  throw config_error(std::string(variable) + " is '" + text + "'; it must be a whole number from 0 to " +
                     std::to_string(most));
}

void validate_upgrade(const listen_options& o) {
  if (o.upgrade == connection_upgrade::none) return;
  if (o.descriptor >= 0 || !address(o.at).is_unix())
    throw config_error(name_of(o) + ": upgrade is set; it is allowed only for unix:/path and unix:@name");
  const std::size_t size = o.shared_memory.ring_size;
  require_value(size >= 4 * 1024 && size <= 64 * 1024 * 1024 && std::has_single_bit(size),
                o.at + ": shared_memory.ring_size", size, "a power of two from 4 KiB to 64 MiB");
  const unsigned shared = o.shared_memory.connections_per_file;
  require_value(shared >= 1 && shared <= 1024, o.at + ": shared_memory.connections_per_file", shared, "from 1 to 1024");
}

void validate_clients(const listen_options& o) {
  if (o.may_connect && (o.descriptor >= 0 || !address(o.at).is_unix()))
    throw config_error(name_of(o) + ": may_connect is set; it is allowed only for unix:/path and unix:@name");
}

void validate_proxies(const listen_options& o) {
  if (o.proxy.trusted.empty()) return;
  for (const std::string& network : o.proxy.trusted) try {
      (void)address_prefix(network);
    } catch (const config_error& why) {
      throw config_error(name_of(o) + ": proxy.trusted: " + why.what());
    }
  if (o.upgrade != connection_upgrade::none)
    throw config_error(name_of(o) + ": proxy.trusted is set; it is not allowed with upgrade");
  require_value(o.proxy.timeout > duration::zero(), name_of(o) + ": proxy.timeout", o.proxy.timeout, "positive");
  require_value(o.proxy.max_size >= 232 && o.proxy.max_size <= 64 * 1024, name_of(o) + ": proxy.max_size",
                o.proxy.max_size, "from 232 to 65536");
}

void validate_tls(const listen_options& o) {
  using enum tls_beginning;
  if (o.tls_begins != at_once && (o.tls != nullptr) != (o.tls_begins == if_detected))
    throw config_error(name_of(o) + ": tls_begins must be if_detected with tls, and on_request without");
  if (!o.tls) return;
  if (o.upgrade != connection_upgrade::none)
    throw config_error(name_of(o) + ": tls is set; it is not allowed with upgrade");
  if (o.descriptor < 0 && !address(o.at).is_ip())
    throw config_error(o.at + ": tls is set; it is allowed only for IP addresses");
  require_value(o.handshakes.timeout > duration::zero(), name_of(o) + ": handshakes.timeout", o.handshakes.timeout,
                "positive");
  require_value(o.handshakes.at_once >= 1, name_of(o) + ": handshakes.at_once", o.handshakes.at_once, "at least 1");
}

void refuse_for_unix(const listen_options& o) {
  if (o.sharing != port_sharing::none)
    throw config_error(o.at + ": sharing is set; it is allowed only for IP addresses");
}

void validate_numbers(const listen_options& o) {
  const std::string owner = name_of(o) + ": ";
  require_value(o.backlog >= 1, owner + "backlog", o.backlog, "at least 1");
  require_value(o.descriptor >= -1, owner + "descriptor", o.descriptor, "an open descriptor, or -1 for none");
}

}  // namespace

void validate(const listen_options& o) {
  validate_numbers(o);
  validate(o.socket, name_of(o) + ": socket.");
  validate_upgrade(o);
  validate_clients(o);
  validate_proxies(o);
  validate_tls(o);
  if (o.descriptor >= 0) return;
  const address at(o.at);
  if (!at.is_ip()) refuse_for_unix(o);
  if (o.dual_stack && at.type() != address::kind::ipv6)
    throw config_error(o.at + ": dual_stack is true; it is allowed only for IPv6 addresses");
  if (o.mode && at.type() != address::kind::unix_path)
    throw config_error(o.at + ": mode is set; it is allowed only for unix:/path");
  if (o.mode) require_value(*o.mode <= 0777, o.at + ": mode", *o.mode, "at most 511 (octal 0777)");
}

bool is_own_user(const peer_credentials& peer) noexcept { return peer.user == 0 || peer.user == ::geteuid(); }

bool offers_shared_memory(const std::vector<listen_options>& listeners) noexcept {
  return std::ranges::any_of(listeners, [](const auto& l) { return l.upgrade != connection_upgrade::none; });
}

void add_demands(loop_tuning& of_loops, const std::vector<listen_options>& listeners) noexcept {
  of_loops.shared_memory |= offers_shared_memory(listeners);
  of_loops.filters |= std::ranges::any_of(
      listeners, [](const auto& l) { return l.carry || l.tls || l.tls_begins != tls_beginning::at_once; });
}

std::vector<listen_options> inherited_listeners() {
  const auto pid = number_in("LISTEN_PID", std::numeric_limits<int>::max());
  if (pid != ::getpid()) return {};  // not set, or meant for a process that has started this one
  const auto count = number_in("LISTEN_FDS", most_inherited);
  if (!count) throw config_error("LISTEN_FDS is not set; it must be set because LISTEN_PID is set");
  const char* const text = std::getenv("LISTEN_FDNAMES");
  std::string_view names = text ? text : "";
  std::vector<listen_options> all;
  for (int i = 0; i < *count; ++i) {
    const std::string_view name = names.substr(0, names.find(':'));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    all.emplace_back("", listener_settings{.priority = name == "priority", .descriptor = first_inherited + i});
  }
  return all;
}

}  // namespace quintet
