// SPDX-License-Identifier: BSL-1.0
// from_outside: calls of other threads to a connection, through its registry.
#include "program.hpp"

#include <quintet/net/connection/connection_registry.hpp>

#include <memory>
#include <string>
#include <vector>

namespace quintet::testing {

void send_from_outside(stage&, life& to, connection_registry& registry, std::size_t size) {
  const std::lock_guard lock(to.mutex);  // keeps the records in the order of their numbers
  if (!registry.send(to.id, make_record('s', to.next_sent, size))) {
    ++to.next_sent;
    to.sent_from_outside += size;
  }
}

void post_from_outside(stage& on, life& to, connection_registry& registry, action what, std::uint32_t amount) {
  const std::lock_guard lock(to.mutex);
  const std::uint32_t number = to.posted;
  const error_code refused = registry.post(to.id, [&on, &to, what, amount, number](connection& c) {
    const work_scope now(on, to, "a posted function");
    if (to.next_post++ != number) on.report(to, "posted functions run out of order, or twice");
    (void)perform(on, to, c, what == action::leave_unused || what == action::expect_more ? action::reply : what,
                  amount);
  });
  if (!refused) ++to.posted;
}

void close_from_outside(life& to, connection_registry& registry) {
  const std::lock_guard lock(to.mutex);
  if (!registry.close(to.id)) to.close_asked = true;
}

void abort_from_outside(life& to, connection_registry& registry) {
  const std::lock_guard lock(to.mutex);
  const auto abort = [&](auto& r) {
    if constexpr (requires { r.abort(to.id); }) {
      if (!r.abort(to.id)) to.abort_asked = true;
    } else {
      if (!r.close(to.id)) to.close_asked = true;
    }
  };
  abort(registry);
}

void cancel_from_outside(life& to, connection_registry& registry) {
  const std::lock_guard lock(to.mutex);
  (void)registry.cancel(to.id);
}

void broadcast_from_outside(stage& on, connection_registry& registry, std::size_t size) {
  const std::lock_guard one_at_a_time(on.broadcasting);  // keeps the records in the order of their numbers
  std::vector<connection_id> ids;
  std::vector<life*> reached;
  for (unsigned place = 0; place < places; ++place)
    if (life* const l = on.at(place); l && !l->over) {
      const std::lock_guard lock(l->mutex);
      ids.push_back(l->id);
      reached.push_back(l);
    }
  const std::string text = make_record('b', on.next_broadcast++, size);
  const bool all = registry.broadcast(ids, std::make_shared<const std::string>(text)) == ids.size();
  for (life* const l : reached) {
    const std::lock_guard lock(l->mutex);
    l->sent_from_outside += all ? size : 0;
    l->may_miss_broadcasts |= !all;
  }
}

}  // namespace quintet::testing
