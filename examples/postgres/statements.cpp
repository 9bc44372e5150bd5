// SPDX-License-Identifier: BSL-1.0
// statements: executes statements. Begin the executor of your own database here.
#include "session.hpp"

#include <quintet/net/stream.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace postgres {
namespace {

using std::chrono::milliseconds;

std::string required(const value& v) {
  if (!v) throw sql_error("23502", "null where a value is required");
  return *v;
}
std::int64_t integer(const value& v) { return to_integer(required(v)); }

std::uint64_t size_of_series(const portal& p) {
  const std::int64_t from = integer(p.arguments[0]), to = integer(p.arguments[1]);
  return from > to ? 0 : static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) + 1;
}

// Throws if the statement was cancelled. After a CancelRequest or at its time limit, the statement ends with an error
// and the session lives; if the client has gone, the session ends too.
void check_interrupts(stream& s) {
  const quintet::cancel_reason why = s.cancelled().why();
  if (why == quintet::cancel_reason::none) return;
  if (why == quintet::cancel_reason::cancelled) throw sql_error("57014", "canceling statement due to user request");
  if (why == quintet::cancel_reason::deadline) throw sql_error("57014", "canceling statement due to statement timeout");
  throw boost::system::system_error(quintet::error_of(why));
}

}  // namespace

bool may_wait(action does) noexcept {
  return does == action::sleep || does == action::sum || does == action::series || does == action::select_all;
}

void session::check_transaction(action next) const {
  if (status_ == 'E' && next != action::commit && next != action::rollback)
    throw sql_error("25P02", "current transaction is aborted, commands ignored until end of transaction block");
}

void session::run_at_once(portal& p, std::int32_t most_rows) {
  if (p.what->does == action::nothing) return out_.message('I');  // EmptyQueryResponse
  check_transaction(p.what->does);
  if (!p.tag.empty() && p.what->columns.empty()) throw sql_error("55000", "the portal has been run to its end");
  if (p.tag.empty()) {
    p.tag = p.what->tag;
    change(p);
  }
  std::int64_t sent = 0;
  append_rows(p, most_rows, sent);  // at most one
}

awaitable<> session::run(stream& s, portal& p, std::int32_t most_rows) {
  check_transaction(p.what->does);
  const auto limit = s.with_deadline(statement_timeout_.count() > 0 ? s.loop().now() + statement_timeout_
                                                                    : quintet::time_point::max());
  if (p.tag.empty()) {
    p.tag = p.what->tag;
    co_await begin(s, p);
  }
  for (std::int64_t sent = 0; !append_rows(p, most_rows, sent);) co_await send_part(s);
}

// Waits for a client that does not read.
awaitable<> session::send_part(stream& s) {
  co_await send(s);
  check_interrupts(s);
}

awaitable<> session::begin(stream& s, portal& p) {
  const action does = p.what->does;
  if (does == action::sleep) {
    const std::chrono::duration<double> time(std::max(0.0, std::min(1e9, to_float(required(p.arguments[0])))));
    (void)co_await quintet::sleep_for(std::chrono::duration_cast<quintet::duration>(time));
    check_interrupts(s);
    p.row = {""};
  } else if (does == action::sum) {
    p.row.push_back(co_await add_up(s, p));
  } else if (does == action::series) {
    p.next = integer(p.arguments[0]);
    p.left = size_of_series(p);
  } else {  // select_all
    p.next = std::numeric_limits<std::int64_t>::min();
    p.left = 1;
  }
}

// Adds up the numbers in slices of about a millisecond. offload() runs them on the model's pool. A model without a pool
// runs them on the loop: between two slices the loop serves others, and hears of a cancel.
awaitable<value> session::add_up(stream& s, const portal& p) {
  constexpr std::uint64_t slice = 1'000'000;
  std::int64_t sum = 0;
  bool overflows = false;
  std::uint64_t next = static_cast<std::uint64_t>(integer(p.arguments[0]));
  for (std::uint64_t left = size_of_series(p); left > 0;) {
    const std::uint64_t end = next + std::min(left, slice);
    left -= end - next;
    try {
      co_await s.offload([&sum, &next, &overflows, end] {
        for (; next != end; ++next) overflows |= __builtin_add_overflow(sum, static_cast<std::int64_t>(next), &sum);
      });
    } catch (const boost::system::system_error&) {  // a cancelled one that had not begun
      check_interrupts(s);
      throw;
    }
    if (overflows) throw sql_error("22003", "bigint out of range");
    (void)co_await quintet::sleep_for({});  // one turn of the loop
    check_interrupts(s);
  }
  co_return std::to_string(sum);
}

void session::change(portal& p) {
  const statement& what = *p.what;
  const auto& with = p.arguments;
  if (what.does == action::select_values) return p.row.swap(p.arguments);
  if (what.does == action::select_row) {
    const auto found = all_->store.find(integer(with[0]));
    if (found && what.columns.size() == 1) p.row = {found};
    if (found && what.columns.size() == 2) p.row = {with[0], found};
  }
  if (what.does == action::insert) p.count = all_->store.insert(integer(with[0]), required(with[1])) ? 1 : 0;
  if (what.does == action::update) p.count = all_->store.update(integer(with[1]), required(with[0])) ? 1 : 0;
  has_changed_ |= status_ == 'T' && p.count > 0;
  if (what.does == action::show) p.row = {shown(what.columns[0].name)};
  if (what.does == action::set) set(what.names[0], what.names[1]);
  if (what.does == action::deallocate && what.names[0] == "all") prepared().statements.clear();
  if (what.does == action::deallocate) prepared().statements.erase(what.names[0]);
  if (what.does == action::begin) status_ = 'T';
  if (what.does == action::commit || what.does == action::rollback) end_transaction(p);
}

void session::end_transaction(portal& p) {
  if (status_ == 'E') p.tag = "ROLLBACK";
  if (std::exchange(has_changed_, false) && status_ != 'I' && p.tag == "ROLLBACK")
    out_.response('N', "WARNING", {"01000", "nothing is undone: changes of the table kv take effect at once"});
  status_ = 'I';
}

// Returns whether the Execute has its answer. Else more rows follow when these have been sent.
bool session::append_rows(portal& p, std::int32_t most_rows, std::int64_t& sent) {
  for (std::vector<value> row; next_row(p, row);) {
    out_.data_row(row, p.what->columns, p.formats);
    if (++sent == most_rows) return out_.message('s'), true;          // PortalSuspended
    if (out_.data().size() >= most_unsent && sent > 1) return false;  // a lone row never waits
  }
  if (p.tag.ends_with(' ')) p.tag += std::to_string(p.what->columns.empty() ? p.count : quintet::as_size(sent));
  out_.message('C', p.tag);  // CommandComplete
  return true;
}

bool session::next_row(portal& p, std::vector<value>& row) const {
  if (p.what->does == action::series && p.left > 0) {
    row.assign(1, std::to_string(p.next));
    p.next += --p.left > 0 ? 1 : 0;  // the last number may be the largest: adding 1 would overflow
    return true;
  }
  if (p.what->does == action::select_all && p.left > 0) {
    auto found = all_->store.first_from(p.next);
    if (!found) return false;
    p.left = found->first == std::numeric_limits<std::int64_t>::max() ? 0 : 1;
    p.next = found->first + static_cast<std::int64_t>(p.left);
    row = {std::to_string(found->first), std::move(found->second)};
    return true;
  }
  row = std::exchange(p.row, {});
  return !row.empty();
}

// ---- Settings -------------------------------------------------------------------------------------------------------

settings initial_settings(std::chrono::seconds statement_timeout) {
  return {{"server_version", "15.0"},
          {"server_encoding", "UTF8"},
          {"client_encoding", "UTF8"},
          {"DateStyle", "ISO, MDY"},
          {"IntervalStyle", "postgres"},
          {"TimeZone", "UTC"},
          {"integer_datetimes", "on"},
          {"standard_conforming_strings", "on"},
          {"application_name", ""},
          {"extra_float_digits", "1"},
          {"search_path", "public"},
          {"statement_timeout", std::to_string(milliseconds(statement_timeout).count())},
          {"transaction_isolation", "read committed"}};
}

const std::string* session::find_setting(const std::string& name) const {
  const auto found = std::find_if(defaults_->begin(), defaults_->end(),
                                  [&name](const auto& each) { return to_lower(each.first) == name; });
  return found == defaults_->end() ? nullptr : &found->first;
}

const std::string& session::setting(const std::string& name) const {
  if (const std::string* const found = find_setting(name)) return *found;
  throw sql_error("42704", "unrecognized configuration parameter \"" + name + '"');
}

const std::string& session::shown(const std::string& name) const {
  const std::string& known_as = setting(name);
  for (const auto& [changed, to] : settings_)
    if (changed == &known_as) return to;
  return defaults_->at(known_as);
}

void session::set(const std::string& name, const std::string& to) {
  const std::string& known_as = setting(name);
  if (name == "statement_timeout") statement_timeout_ = milliseconds(to_integer(*convert(to, type::int4)));
  if (name == "client_encoding" && to_lower(to).find("utf") == to.npos)
    throw sql_error("0A000", "the only encoding is UTF8");
  std::erase_if(settings_, [&](const auto& each) { return each.first == &known_as; });
  const auto& [changed, now] = settings_.emplace_back(&known_as, name == "client_encoding" ? "UTF8" : to);
  out_.message('S', *changed, now);  // ParameterStatus
}

}  // namespace postgres
