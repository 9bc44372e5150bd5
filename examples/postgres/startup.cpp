// SPDX-License-Identifier: BSL-1.0
// startup: what comes before the first statement.
#include "session.hpp"
#include "tokens.hpp"

#include <utility>

namespace postgres {

awaitable<bool> session::log_in(stream& s) {
  const time_limit limit(s, all_->login_timeout, {"57014", "canceling authentication due to timeout"});
  const auto parameters = co_await read_startup(s);
  if (parameters.empty()) co_return false;
  cancel_ = std::make_shared<cancel_state>();
  key_ =
      all_->sessions.add(all_->max_connections, [&loop = s.loop(), state = cancel_] { request_cancel(loop, state); });
  const auto user = parameters.find("user");
  if (user == parameters.end()) throw fatal_error("28000", "no PostgreSQL user name specified in startup packet");
  // A client on this host, on a Unix socket, need not be asked if the system says that it is this user (SO_PEERCRED).
  if (!all_->users.empty()) {
    const bool is_known = co_await all_->users.authenticate(s, user->second);
    if (!is_known) throw fatal_error("28P01", "password authentication failed for user \"" + user->second + '"');
  }
  settings_.set("statement_timeout", std::to_string(std::chrono::milliseconds(all_->statement_timeout).count()));
  for (const auto& [name, setting] : parameters)
    if (settings_.has(name)) settings_.set(name, setting);
  greet();
  co_return true;
}

// After requests for encryption, which is refused, comes a StartupMessage or a CancelRequest. The latter has no
// parameters and gets no answer.
awaitable<std::map<std::string, std::string>> session::read_startup(stream& s) {
  startup_codec codec(largest_startup_packet);
  for (int packets = 0; packets < 3; ++packets) {
    message_reader in((co_await s.read_message(codec)).value());
    const auto code = startup_code(in.int32());
    if (code == startup_code::ssl_request || code == startup_code::gssenc_request) {
      s.write("N");
    } else if (code == startup_code::cancel_request) {
      const std::int32_t process = in.int32();
      all_->sessions.cancel({process, in.int32()});
      co_return std::map<std::string, std::string>();
    } else if (code != startup_code::protocol_3_0) {
      throw fatal_error("0A000", "unsupported frontend protocol: the server supports 3.0");
    } else {
      std::map<std::string, std::string> parameters;
      for (std::string name(in.string()); !name.empty(); name = in.string()) parameters[to_lower(name)] = in.string();
      in.end();
      co_return parameters;
    }
  }
  throw fatal_error("08P01", "too many requests for encryption");
}

void session::greet() {
  out_.authentication(0);  // AuthenticationOk
  for (const auto& [name, entry] : settings_.all())
    if (entry.reported_as != nullptr) out_.parameter_status(entry.reported_as, entry.value);
  out_.backend_key_data(key_->process, key_->secret);
  out_.ready_for_query(status_);
}

}  // namespace postgres
