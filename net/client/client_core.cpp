// SPDX-License-Identifier: BSL-1.0
// client_core: starts, stops and counts.
#include "client_core.hpp"

#include "../engine/make_engine.hpp"
#include "../loop/placing.hpp"
#include "../loop/prepared_thread.hpp"

#include <stdexcept>
#include <utility>

namespace quintet {

client_core::client_core(client_options options, std::unique_ptr<model_interface> model,
                         std::unique_ptr<detail::link_source> links)
    : options_((validate(options), std::move(options))),
      host_(options_.limits, options_.memory, options_.log),
      model_(std::move(model)),
      source_(std::move(links)),
      main_(make_main_engine(options_), *options_.time, {.tuning = options_.loop}),
      links_(main_, options_, host_.registry) {}

void client_core::shut_down() {
  stop();
  join();
  main_.run();  // reports errc::stopped for links that have not begun
  if (started_) finish();
  links_.close();
  while (main_.poll()) {  // while the rest of the client still exists
  }
}

void client_core::run_once() {
  if (std::exchange(has_run_, true)) throw std::logic_error("a client can run only once; create another client");
}

void client_core::run() {
  run_once();
  start();
  main_.run();
  finish();
}

void client_core::run_in_background() {
  run_once();
  const auto prepare = [this] {
    main_.io().prepare();
    start();
  };
  background_ = detail::start_prepared_thread("qnt-client", prepare, [this] {
    main_.run();
    finish();
  });
}

void client_core::start() {
  started_ = true;
  model_->start(main_);
}

void client_core::finish() {
  started_ = false;
  model_->stop();
  main_.poll();  // runs the posts of connections that ended with the model's loops
  links_.clear();
}

client_statistics client_core::statistics() const {
  client_statistics sum;
  detail::add_counters(sum, *model_, main_);
  sum.attempts = links_.attempts();
  sum.failures = links_.failures();
  return sum;
}

}  // namespace quintet
