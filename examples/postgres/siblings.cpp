// SPDX-License-Identifier: BSL-1.0
// siblings: a message of the bus is a key of 8 bytes.
#include "siblings.hpp"

#include <quintet/base/error.hpp>
#include <quintet/base/framing/length_prefix.hpp>

#include <bit>
#include <span>

namespace postgres {
namespace {

using quintet::bytes, quintet::cancel_key, quintet::connection_registry;

quintet::bus_options options_of(std::uint64_t self, const std::map<std::uint64_t, std::string>& all,
                                connection_registry& ours) {
  if (!all.contains(self)) throw quintet::config_error("--siblings lacks node " + std::to_string(self));
  quintet::bus_options o{.id = self, .listen = {all.at(self)}};
  o.on_messages = [&ours](std::span<const quintet::bus_message> messages) {
    for (const quintet::bus_message& m : messages)
      if (m.payload.size() == sizeof(cancel_key))
        (void)ours.cancel(cancel_key(quintet::decode_number<8, std::endian::big>(m.payload)));
  };
  return o;
}

}  // namespace

siblings::siblings(std::uint64_t self, const std::map<std::uint64_t, std::string>& all, connection_registry& ours)
    : all_(all), node_(options_of(self, all, ours)) {
  for (const auto& [id, address] : all_)
    if (id > self) node_.connect(id, {address});  // one of two connects
  node_.run_in_background();
}

void siblings::cancel(cancel_key key) {
  const auto payload = quintet::encode_number<8, std::endian::big>(static_cast<std::uint64_t>(key));
  for (const auto& [id, address] : all_)
    if (id != node_.id())
      (void)node_.send(id, {payload.data(), payload.size()});  // a process that is not there has no such request
}

}  // namespace postgres
