// SPDX-License-Identifier: BSL-1.0
// session: the messages of a client that has logged in.
#include "session.hpp"

#include <boost/system/system_error.hpp>

#include <utility>

namespace postgres {
namespace {

constexpr std::size_t most_kept = 1000;  // prepared statements, and portals, of a session

format to_format(std::int16_t code) {
  if (code != 0 && code != 1) throw sql_error("22023", "unsupported format code: " + std::to_string(code));
  return format(code);
}

std::vector<format> formats_of(message_reader& in) {
  std::vector<format> all;
  for (int i = in.int16(); i > 0; --i) all.push_back(to_format(in.int16()));
  return all;
}

std::vector<value> parameters_of(message_reader& in, const std::vector<format>& formats, const statement& what) {
  const int count = in.int16();
  if (count != static_cast<int>(what.parameters.size()))
    throw sql_error("08P01", "bind message supplies " + std::to_string(count) + " parameters, but the statement has " +
                                 std::to_string(what.parameters.size()));
  std::vector<value> all;
  for (const type t : what.parameters) {
    const std::int32_t size = in.int32();
    const format f = format_of(formats, all.size());
    all.push_back(size < 0 ? null() : parse_value(in.take(quintet::as_size(size)), t, f));
  }
  return all;
}

std::vector<value> arguments_of(const statement& what, const std::vector<value>& parameters) {
  std::vector<value> all;
  for (const operand& o : what.operands) {
    if (o.parameter > parameters.size())
      throw sql_error("42P02", "there is no parameter $" + std::to_string(o.parameter));
    all.push_back(o.parameter == 0 ? o.literal : convert(parameters[o.parameter - 1], o.as));
  }
  return all;
}

}  // namespace

awaitable<> session::operator()(stream& s) {
  using quintet::errc;
  try {
    const bool is_client = co_await log_in(s);
    if (is_client) co_await serve(s);
  } catch (const sql_error& e) {  // during the login all are fatal
    out_.error_response("FATAL", e);
  } catch (const boost::system::system_error& e) {
    const bool is_malformed = e.code() == errc::malformed_message || e.code() == errc::message_too_big;
    if (is_malformed) out_.error_response("FATAL", {"08P01", "invalid message length"});
    if (!is_malformed && e.code() != errc::end_of_stream) s.close(e.code());
  }
  s.write(out_.data());
}

awaitable<> session::serve(stream& s) {
  co_await send(s);
  while (true) {
    const bytes message = co_await read(s);
    const char type = message.front();
    if (type == 'X') co_return;  // Terminate
    if (is_skipping_ && type != 'S') continue;
    try {
      co_await process(s, type, message_reader(message.substr(message_header)));
    } catch (const fatal_error&) {
      throw;
    } catch (const sql_error& e) {
      fail(e);
      is_skipping_ = type != 'Q';
    }
    if (type == 'S' || type == 'Q') get_ready();
    co_await send(s);
  }
}

awaitable<bytes> session::read(stream& s) {
  const time_limit limit(s, all_->idle_timeout, {"57P05", "terminating connection due to idle-session timeout"});
  message_codec codec(largest_message);
  const auto message = co_await s.read_message(codec);
  if (s.draining() && !message) throw fatal_error("57P01", "terminating connection due to administrator command");
  co_return message.value();
}

awaitable<> session::process(stream& s, char type, message_reader in) {
  switch (type) {
    case 'Q':
      co_return co_await query(s, in.string());
    case 'P':
      co_return parse(in);
    case 'B':
      co_return bind(in);
    case 'D':
      co_return describe(in);
    case 'E':
      co_return co_await execute(s, in);
    case 'C':
      co_return close(in);
    case 'H':
      co_return s.flush();
    case 'S':
      co_return;
    default:
      throw fatal_error("08P01", "invalid frontend message type " + std::to_string(static_cast<unsigned char>(type)));
  }
}

awaitable<> session::query(stream& s, bytes text) {
  auto all = parse_sql(text);
  if (all.empty()) out_.bare('I');  // EmptyQueryResponse
  for (statement& each : all) {
    portal p{.what = std::make_shared<statement>(std::move(each))};
    p.arguments = arguments_of(*p.what, {});
    if (!p.what->columns.empty()) out_.row_description(p.what->columns, p.formats);
    co_await run(s, p, 0);
  }
}

void session::parse(message_reader in) {
  const std::string name(in.string());
  const bytes text = in.string();
  std::vector<type> given;
  for (int i = in.int16(); i > 0; --i) given.push_back(type(in.int32()));
  in.end();
  auto all = parse_sql(text, given);
  if (all.size() > 1) throw sql_error("42601", "cannot insert multiple commands into a prepared statement");
  if (!name.empty() && statements_.contains(name))
    throw sql_error("42P05", "prepared statement \"" + name + "\" already exists");
  if (statements_.size() == most_kept) throw sql_error("53400", "too many prepared statements");
  statements_[name] = std::make_shared<statement>(all.empty() ? statement() : std::move(all.front()));
  out_.bare('1');  // ParseComplete
}

void session::bind(message_reader in) {
  const std::string name(in.string()), of(in.string());
  const auto p = std::make_shared<portal>(portal{.what = find_statement(of)});
  const auto formats = formats_of(in);
  p->arguments = arguments_of(*p->what, parameters_of(in, formats, *p->what));
  p->formats = formats_of(in);
  in.end();
  if (p->formats.size() > 1 && p->formats.size() != p->what->columns.size())
    throw sql_error("08P01", "bind message has other result formats than the statement has columns");
  if (!name.empty() && portals_.contains(name)) throw sql_error("42P03", "cursor \"" + name + "\" already exists");
  if (portals_.size() == most_kept) throw sql_error("53400", "too many portals");
  portals_[name] = p;
  out_.bare('2');  // BindComplete
}

void session::describe(message_reader in) {
  const char kind = in.byte();
  const std::string name(in.string());
  if (kind == 'P') {
    const auto p = find_portal(name);
    return describe_rows(*p->what, p->formats);
  }
  const auto what = find_statement(name);
  out_.parameter_description(what->parameters);
  describe_rows(*what, {});
}

awaitable<> session::execute(stream& s, message_reader in) {
  const auto p = find_portal(std::string(in.string()));
  co_await run(s, *p, in.int32());
}

void session::close(message_reader in) {
  const char kind = in.byte();
  const std::string name(in.string());
  if (kind == 'P')
    portals_.erase(name);
  else
    statements_.erase(name);
  out_.bare('3');  // CloseComplete
}

// Without a transaction block, a transaction ends here, and its portals with it.
void session::get_ready() {
  is_skipping_ = false;
  out_.ready_for_query(status_);
  if (status_ == 'I') portals_.clear();
}

void session::fail(const sql_error& e) {
  out_.error_response("ERROR", e);
  if (status_ == 'T') status_ = 'E';
}

awaitable<> session::send(stream& s) {
  s.write(out_.data());
  out_.clear();
  const bool is_open = co_await s.until_writable();
  if (!is_open) throw boost::system::system_error(s.failure());
}

void session::describe_rows(const statement& what, const std::vector<format>& formats) {
  if (what.columns.empty()) return out_.bare('n');  // NoData
  out_.row_description(what.columns, formats);
}

std::shared_ptr<const statement> session::find_statement(const std::string& name) const {
  const auto found = statements_.find(name);
  if (found == statements_.end()) throw sql_error("26000", "prepared statement \"" + name + "\" does not exist");
  return found->second;
}

std::shared_ptr<portal> session::find_portal(const std::string& name) const {
  const auto found = portals_.find(name);
  if (found == portals_.end()) throw sql_error("34000", "portal \"" + name + "\" does not exist");
  return found->second;
}

}  // namespace postgres
