// SPDX-License-Identifier: BSL-1.0
// resolver: one request, and its answer on the loop.
#include "resolver.hpp"

#include "../loop/event_loop.hpp"

#include <memory>
#include <utility>

namespace quintet {

struct resolver::request final : detail::name_lookups::request {
  request(event_loop& on, resolver& r, done_function f) noexcept
      : detail::name_lookups::request(on, &request::answered), owner(&r), done(std::move(f)) {}
  static void answered(work_item& item) noexcept {
    const std::unique_ptr<request> self(static_cast<request*>(&item));
    if (!self->owner) return;
    (void)self->owner->lookups_.cancel(*self);  // done() may lead to the end of the loop
    self->owner->request_ = nullptr;            // and of the owner
    self->done(self->answer().failed, self->answer().found);
  }
  resolver* owner;  // null: cancelled
  done_function done;
};

resolver::resolver(event_loop& loop, const std::string& host, const std::string& port, done_function done,
                   detail::name_lookups& with)
    : lookups_(with) {
  auto fresh = std::make_unique<request>(loop, *this, std::move(done));
  lookups_.start(*fresh, host, port, loop.options().tuning.max_lookups);
  request_ = fresh.release();
}

resolver::~resolver() {
  if (!request_) return;
  if (lookups_.cancel(*request_))
    delete request_;
  else
    request_->owner = nullptr;  // the loop's inbox has it
}

}  // namespace quintet
