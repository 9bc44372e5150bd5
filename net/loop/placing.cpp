// SPDX-License-Identifier: BSL-1.0
// placing: picks a loop, adds up counters, and turns an exception of a thread model into an error code.
#include "placing.hpp"

#include "../engine/socket_services.hpp"

#include <boost/system/system_error.hpp>

#include <new>
#include <string>
#include <system_error>

namespace quintet::detail {

address peer_of(event_loop& loop, const stream_handle& stream) {
  return stream.facts().told ? stream.facts().told->peer : loop.io().sockets().remote_address(stream.get());
}

event_loop& pick(model_interface& model, event_loop& main, const stream_handle& stream) {
  // Getting the address costs a system call for each connection.
  return model.wants_address() ? model.place(peer_of(main, stream)) : model.place();
}

void add_counters(loop_statistics& to, const model_interface& model, event_loop& main) {
  to.add(main.counters());
  model.each_counters([&to](const loop_counters& c) { to.add(c); });
}

error_code reason_of_exception() noexcept {
  try {
    throw;
  } catch (const boost::system::system_error& e) {
    return e.code();
  } catch (const std::system_error& e) {  // thrown by std::thread
    return e.code();
  } catch (const std::bad_alloc&) {
    return make_error_code(boost::system::errc::not_enough_memory);
  } catch (...) {
    return errc::not_placed;
  }
}

error_code reason_of_unmade_session() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return make_error_code(boost::system::errc::not_enough_memory);
  } catch (...) {
    return errc::handler_threw;
  }
}

void report_cpus(const log_hook& log, const std::vector<event_loop*>& loops) {
  std::string cpus;
  for (const event_loop* loop : loops)
    if (const int cpu = loop->options().cpu; cpu >= 0) cpus += (cpus.empty() ? "" : ", ") + std::to_string(cpu);
  if (!cpus.empty()) report(log, {severity::info, "loops are pinned to CPUs " + cpus});
}

}  // namespace quintet::detail
