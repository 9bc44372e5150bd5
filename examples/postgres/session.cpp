// SPDX-License-Identifier: BSL-1.0
// session: startup, login, and a function for each kind of message. The protocol names a kind by a letter; comments
// give the name that PostgreSQL's documentation has for it.
#include "session.hpp"

#include <quintet/net/connection/peer_info.hpp>

#include <boost/system/system_error.hpp>

#include <string_view>
#include <utility>

namespace postgres {
namespace {

constexpr std::size_t most_kept_text = 256;
constexpr std::size_t most_kept = 1000;  // prepared statements of a session; also its portals
constexpr std::size_t much = 4096, most_bytes_kept = 4 * largest_message;  // of those that have much to keep

// The protocol's counts have no sign.
int take_count(message_reader& in) { return static_cast<std::uint16_t>(in.int16()); }

std::vector<format> take_formats(message_reader& in) {
  std::vector<format> all;
  for (int i = take_count(in); i > 0; --i) {
    const std::int16_t code = in.int16();
    if (code != 0 && code != 1) throw sql_error("22023", "unsupported format code: " + std::to_string(code));
    all.push_back(format(code));
  }
  return all;
}

std::vector<value> take_parameters(message_reader& in, const statement& of) {
  const std::vector<format> formats = take_formats(in);
  if (take_count(in) != static_cast<int>(of.parameters.size()))
    throw sql_error("08P01", "the statement has " + std::to_string(of.parameters.size()) + " parameters");
  std::vector<value> all;
  for (const type t : of.parameters) {
    const std::int32_t size = in.int32();
    if (size < 0) {
      all.emplace_back();
      continue;
    }
    const bytes data = in.take(quintet::as_size(size));
    all.push_back(format_of(formats, all.size()) == format::binary ? to_text(data, t) : std::string(data));
  }
  return all;
}

std::vector<value> arguments_of(const statement& what, const std::vector<value>& parameters) {
  std::vector<value> all;
  for (const operand& o : what.operands) {
    if (o.parameter > parameters.size()) throw sql_error("42P02", "there is no such parameter");
    all.push_back(o.parameter == 0 ? o.literal : convert(parameters[o.parameter - 1], o.as));
  }
  return all;
}

// Describe and Close name a portal or a prepared statement.
bool takes_portal(message_reader& in) {
  const char what = in.byte();
  if (what != 'P' && what != 'S') throw sql_error("08P01", "neither a portal nor a prepared statement");
  return what == 'P';
}

template <class Map>
auto& find(Map& in, const std::string& name, const char* sqlstate, const char* kind) {
  const auto found = in.find(name);
  if (found == in.end()) throw sql_error(sqlstate, kind + (" \"" + name) + "\" does not exist");
  return found->second;
}

// A new object without a name replaces the last one. Any other name must be free. The number of objects bounds the
// memory of small ones.
template <class T>
void keep(std::map<std::string, kept<T>>& in, const std::string& name, kept<T> added, const char* sqlstate,
          const char* kind) {
  if (!name.empty() && in.contains(name)) throw sql_error(sqlstate, kind + (" \"" + name) + "\" already exists");
  if (in.size() >= most_kept) throw sql_error("53400", std::string("too many objects of this kind: ") + kind);
  std::size_t all = added.size;
  if (added.size > much)
    for (const auto& [other, has] : in) all += other == name ? 0 : has.size;
  if (all > most_bytes_kept) throw sql_error("53400", std::string("too many bytes in objects of this kind: ") + kind);
  in[name] = std::move(added);
}

// A health check must get its answer when the server is full.
seat take_seat(service& all, const stream& s) {
  if (all.priority_port != 0 && quintet::local_address(s).ends_with(':' + std::to_string(all.priority_port)))
    return seat((++all.health_checks, &all.health_checks));
  seat taken((++all.sessions, &all.sessions));
  if (all.sessions > all.max_connections) throw too_many_clients();
  return taken;
}

quintet::time_point in(stream& s, std::chrono::seconds time) {
  return time.count() > 0 ? s.loop().now() + time : quintet::time_point::max();
}

}  // namespace

fatal_error too_many_clients() { return {"53300", "sorry, too many clients already"}; }

awaitable<> session::operator()(stream& s) {
  using quintet::errc;
  bool logs_in = true;
  try {
    const seat taken = co_await log_in(s);
    logs_in = false;
    if (taken) co_await serve(s);
  } catch (const sql_error& e) {  // serve() has answered all but fatal errors; in a login all are fatal
    out_.response('E', "FATAL", e);
  } catch (const boost::system::system_error& e) {
    if (e.code() == errc::deadline_passed && logs_in)
      out_.response('E', "FATAL", {"57014", "canceling authentication due to timeout"});
    const bool is_malformed = e.code() == errc::malformed_message || e.code() == errc::message_too_big;
    if (is_malformed) out_.response('E', "FATAL", {"08P01", "invalid message length"});
    if (!is_malformed && e.code() != errc::end_of_stream) s.close(e.code());
  }
  s.write(out_.data());
}

// ---- Startup --------------------------------------------------------------------------------------------------------

awaitable<seat> session::log_in(stream& s) {
  const auto limit = s.with_read_deadline(in(s, all_->login_timeout));
  const std::optional<parameters> startup = co_await read_startup(s);
  if (!startup) co_return nullptr;
  const parameters& given = *startup;
  seat taken = take_seat(*all_, s);
  const auto named = given.find("user");
  const std::string user = named == given.end() ? std::string() : named->second;
  if (user.empty()) throw fatal_error("28000", "no PostgreSQL user name specified in startup packet");
  co_await authenticate(s, user);
  out_.message('R', std::int32_t{0});                                     // AuthenticationOk
  for (const auto& [name, is] : *defaults_) out_.message('S', name, is);  // ParameterStatus
  for (const auto& [name, to] : given)
    if (find_setting(name) != nullptr) set(name, to);
  using enum quintet::cancel_reason;
  // A client of PostgreSQL does not half-close: if it sends no more, it has gone.
  s.cancel_on(quintet::default_cancel_reasons | peer_finished);
  const auto key = static_cast<std::uint64_t>(s.make_cancel_key());
  out_.message('K', static_cast<std::int32_t>(key >> 32U), static_cast<std::int32_t>(key));  // BackendKeyData
  out_.message('Z', status_);                                                                // ReadyForQuery
  co_await send(s);
  co_return taken;
}

// The list of the system's users may be on another machine, so the loop must not wait for it.
awaitable<> session::authenticate(stream& s, const std::string& user) {
  const auto peer = quintet::credentials_of(s);  // an error: not a Unix socket
  if (all_->has_peer_authentication && peer) {
    const bool is_user = co_await s.offload([&] { return is_local_user(*peer, user); });
    if (!is_user) throw fatal_error("28000", "Peer authentication failed for user \"" + user + '"');
  } else if (!all_->users.empty()) {
    const bool is_known = co_await all_->users.authenticate(s, user);
    if (!is_known) throw fatal_error("28P01", "password authentication failed for user \"" + user + '"');
  }
}

// Begins TLS where it is asked for, refuses GSSAPI, then returns the parameters of the StartupMessage. Returns nothing
// for a CancelRequest: that gets no answer. Bytes behind an SSLRequest may come from somebody between, and the library
// ends the connection.
awaitable<std::optional<session::parameters>> session::read_startup(stream& s) {
  startup_codec codec(largest_startup_message);
  bool is_encrypted = false;  // after an SSLRequest, no further request for encryption is valid
  for (int packets = 0; packets < 3; ++packets) {
    message_reader in((co_await s.read_message(codec)).value());
    const std::int32_t code = in.int32();
    if (!is_encrypted && (code == ssl_request || code == gssenc_request)) {
      is_encrypted = code == ssl_request && all_->tls && !s.start_tls(all_->tls, "S");
      if (!is_encrypted) s.write("N");
    } else if (code == cancel_request) {
      const auto key = quintet::cancel_key(quintet::decode_number<8, std::endian::big>(in.take(8)));
      if (s.registry().cancel(key) && all_->cancel_elsewhere) all_->cancel_elsewhere(key);
      co_return std::nullopt;
    } else if (code == protocol_version) {
      parameters given;
      for (std::string name = in.string(); !name.empty(); name = in.string()) given[to_lower(name)] = in.string();
      co_return given;
    } else {
      throw fatal_error("0A000", "unsupported frontend protocol; this server has 3.0");
    }
  }
  throw fatal_error("08P01", "too many requests for encryption");
}

// ---- Messages -------------------------------------------------------------------------------------------------------

awaitable<> session::serve(stream& s) {
  message_codec codec(largest_message);
  for (bool is_skipping = false;;) {
    const auto limit = s.with_read_deadline(in(s, all_->idle_timeout));
    const auto message = co_await s.read_message(codec);
    if (!message) end_reading(s, limit.has_passed(), message.error());
    const char type = message->front();
    if (type == 'X') co_return;  // Terminate
    if (is_skipping && type != 'S') continue;
    is_skipping = false;
    try {
      const message_reader body(message->substr(message_header));
      const bool is_done = process(type, body);
      if (!is_done && type == 'Q') co_await query(s, body);
      if (!is_done && type == 'E') co_await execute(s, body);
    } catch (const fatal_error&) {
      throw;
    } catch (const sql_error& e) {
      out_.response('E', "ERROR", e);
      if (status_ == 'T') status_ = 'E';
      is_skipping = type != 'Q';
    }
    if (type == 'Q' || type == 'S') {
      if (status_ == 'I' && prepared_) prepared_->portals.clear();  // a portal lives until its transaction ends
      out_.message('Z', status_);                                   // ReadyForQuery
      if (last_query_ && last_query_->text.size() > most_kept_text) last_query_ = nullptr;
    }
    const bool is_due = is_skipping || type == 'Q' || type == 'S' || type == 'H';  // after an error, or at Flush
    if (!is_due && out_.data().size() < most_unsent) continue;
    write_out(s);
    const bool is_open = co_await s.until_writable();
    check_open(s, is_open);
    if (type == 'H') s.flush();
  }
}

void session::end_reading(stream& s, bool is_late, quintet::error_code why) {
  if (s.draining()) throw fatal_error("57P01", "terminating connection due to administrator command");
  if (is_late) throw fatal_error("57P05", "terminating connection due to idle-session timeout");
  throw boost::system::system_error(why);
}

void session::write_out(stream& s) {
  s.write(out_.data());
  out_.clear();
}

void session::check_open(stream& s, bool is_open) {
  if (!is_open && !s.cancelled()) throw boost::system::system_error(s.failure());
}

awaitable<> session::send(stream& s) {
  write_out(s);
  const bool is_open = co_await s.until_writable();
  check_open(s, is_open);
}

// Returns false for a statement that may wait: query() or execute() runs it. Most wait for nothing, and need no
// coroutine.
bool session::process(char type, message_reader in) {
  if (type == 'Q') return query_at_once(in);
  if (type == 'E') return execute_at_once(in);
  if (type == 'P')
    parse(in);
  else if (type == 'B')
    bind(in);
  else if (type == 'D')
    describe(in);
  else if (type == 'C')
    close(in);
  else if (std::string_view("SHdcf").find(type) == std::string_view::npos)  // CopyData outside of COPY is ignored
    throw fatal_error("08P01", std::string("invalid frontend message type ") + type);
  return true;
}

// Clients repeat themselves: the last text is parsed once. An idle session keeps no long one.
std::shared_ptr<const session::parsed_text> session::parsed(std::string text) {
  if (last_query_ && text == last_query_->text) return last_query_;
  auto now = std::make_shared<parsed_text>();
  for (statement& each : parse_sql(text)) now->all.push_back(std::make_shared<const statement>(std::move(each)));
  now->text = std::move(text);
  return last_query_ = std::move(now);
}

session::prepared_objects& session::prepared() {
  if (!prepared_) prepared_ = std::make_shared<prepared_objects>();
  return *prepared_;
}

portal session::open(std::shared_ptr<const statement> what) {
  portal p{.what = std::move(what)};
  p.arguments = arguments_of(*p.what, {});
  if (!p.what->columns.empty()) out_.row_description(p.what->columns, p.formats);
  return p;
}

bool session::query_at_once(message_reader in) {
  const auto query = parsed(in.string());
  const auto& all = query->all;
  if (all.empty()) return out_.message('I'), true;  // EmptyQueryResponse
  if (all.size() > 1 || may_wait(all[0]->does)) return false;
  portal p = open(all[0]);
  run_at_once(p, 0);
  return true;
}

awaitable<> session::query(stream& s, message_reader in) {
  const auto query = parsed(in.string());
  for (const auto& each : query->all) {
    portal p = open(each);
    if (may_wait(each->does))
      co_await run(s, p, 0);
    else
      run_at_once(p, 0);
    if (out_.data().size() >= most_unsent) co_await send_part(s);
  }
}

void session::parse(message_reader in) {
  const std::size_t size = in.size();
  const std::string name = in.string(), text = in.string();
  std::vector<type> given;
  for (int i = take_count(in); i > 0; --i) given.push_back(type(in.int32()));
  auto all = parse_sql(text, given);
  if (all.size() > 1) throw sql_error("42601", "cannot insert multiple commands into a prepared statement");
  if (all.empty()) all.emplace_back();
  auto what = std::make_shared<const statement>(std::move(all[0]));
  keep(prepared().statements, name, {std::move(what), size}, "42P05", "prepared statement");
  out_.message('1');  // ParseComplete
}

void session::bind(message_reader in) {
  const std::size_t size = in.size();
  const std::string name = in.string(), of = in.string();
  const auto& what = find(prepared().statements, of, "26000", "prepared statement").is;
  portal p{.what = what};
  p.arguments = arguments_of(*p.what, take_parameters(in, *p.what));
  p.formats = take_formats(in);
  if (p.formats.size() > 1 && p.formats.size() != p.what->columns.size())
    throw sql_error("08P01", "bind message has other result formats than the statement has columns");
  keep(prepared().portals, name, {std::move(p), size}, "42P03", "cursor");
  out_.message('2');  // BindComplete
}

void session::describe(message_reader in) {
  const bool is_portal = takes_portal(in);
  const std::string name = in.string();
  const portal* const p = is_portal ? &find(prepared().portals, name, "34000", "portal").is : nullptr;
  const auto& what = p ? p->what : find(prepared().statements, name, "26000", "prepared statement").is;
  if (!is_portal) out_.parameter_description(what->parameters);
  if (what->columns.empty()) return out_.message('n');  // NoData
  out_.row_description(what->columns, p ? p->formats : std::vector<format>());
}

bool session::execute_at_once(message_reader in) {
  portal& p = find(prepared().portals, in.string(), "34000", "portal").is;
  if (may_wait(p.what->does)) return false;
  run_at_once(p, in.int32());
  return true;
}

awaitable<> session::execute(stream& s, message_reader in) {
  portal& p = find(prepared().portals, in.string(), "34000", "portal").is;
  co_await run(s, p, in.int32());
}

void session::close(message_reader in) {
  if (takes_portal(in))
    prepared().portals.erase(in.string());
  else
    prepared().statements.erase(in.string());
  out_.message('3');  // CloseComplete
}

}  // namespace postgres
