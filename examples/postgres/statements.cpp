// SPDX-License-Identifier: BSL-1.0
// statements: what statements do. A place for the executor of a database of your own.
#include "session.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace postgres {
namespace {

std::int64_t integer(const value& v) {
  if (const auto* n = std::get_if<std::int64_t>(&v)) return *n;
  throw sql_error("23502", "null value where a number must be");
}
std::string text(const value& v) {
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  throw sql_error("23502", "null value in column \"v\"; this table has none");
}

std::uint64_t count_of(const portal& p) {
  const std::int64_t from = integer(p.arguments[0]), to = integer(p.arguments[1]);
  return from > to ? 0 : static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) + 1;
}

}  // namespace

awaitable<> session::run(stream& s, portal& p, std::int32_t most_rows) {
  const action does = p.what->does;
  if (does == action::nothing) co_return out_.bare('I');  // EmptyQueryResponse
  if (status_ == 'E' && does != action::commit && does != action::rollback)
    throw sql_error("25P02", "current transaction is aborted, commands ignored until end of transaction block");
  const auto limit = std::chrono::milliseconds(std::stol(settings_.at("statement_timeout").value));
  deadline_ = limit.count() > 0 ? s.loop().time().now() + limit : quintet::time_point::max();
  cancel_->requested = false;
  p.tag = p.what->tag;
  if (!std::exchange(p.has_begun, true)) co_await begin(s, p);
  co_await send_rows(s, p, most_rows);
}

awaitable<> session::begin(stream& s, portal& p) {
  switch (p.what->does) {
    case action::sleep: {
      const double longest = 1e9, seconds = std::get<double>(p.arguments[0]);
      const auto time = std::chrono::duration<double>(std::min(seconds, longest));
      const auto left = deadline_ - s.loop().time().now();
      co_await wait_for(
          s, std::min<std::chrono::nanoseconds>(std::chrono::duration_cast<std::chrono::nanoseconds>(time), left),
          *cancel_);
      check_interrupts(s);
      p.rows.push_back({std::string()});
      break;
    }
    case action::sum: {
      // Runs where the model runs what computes: on a pool, if it has one.
      const std::int64_t sum = co_await s.offload([this, &s, &p] {
        std::uint64_t total = 0, next = static_cast<std::uint64_t>(integer(p.arguments[0]));
        for (std::uint64_t left = count_of(p); left > 0; --left) {
          total += next++;
          if (left % 65536 == 0) check_interrupts(s);
        }
        return static_cast<std::int64_t>(total);
      });
      p.rows.push_back({sum});
      break;
    }
    case action::series:
      p.next = integer(p.arguments[0]);
      p.left = count_of(p);
      break;
    case action::select_all:
      p.next = std::numeric_limits<std::int64_t>::min();
      p.left = 1;
      break;
    case action::select_values:
      p.rows.push_back(p.arguments);
      break;
    default:
      change(p);
  }
}

void session::change(portal& p) {
  const statement& what = *p.what;
  const auto& with = p.arguments;
  switch (what.does) {
    case action::select_row: {
      const auto found = all_->store.find(integer(with[0]));
      if (found && what.columns.size() == 1) p.rows.push_back({*found});
      if (found && what.columns.size() == 2) p.rows.push_back({with[0], *found});
      break;
    }
    case action::insert:
      all_->store.insert(integer(with[0]), text(with[1]));
      p.changed = 1;
      break;
    case action::update:
      p.changed = all_->store.update(integer(with[1]), text(with[0])) ? 1 : 0;
      break;
    case action::show:
      p.rows.push_back({settings_.at(what.columns.front().name).value});
      break;
    case action::set: {
      const auto& changed = settings_.set(what.names[0], what.names[1]);
      if (changed.reported_as != nullptr) out_.parameter_status(changed.reported_as, changed.value);
      break;
    }
    case action::deallocate:
      if (what.names[0] == "all") statements_.clear();
      statements_.erase(what.names[0]);
      break;
    default:
      set_transaction(p);
  }
  has_changed_ |= p.changed > 0;
}

void session::set_transaction(portal& p) {
  const action does = p.what->does;
  if (does == action::begin && status_ == 'I') status_ = 'T', has_changed_ = false;
  if (does != action::commit && does != action::rollback) return;
  if (status_ == 'E') p.tag = "ROLLBACK";
  if (has_changed_ && status_ != 'I' && (does == action::rollback || status_ == 'E'))
    out_.notice_response("WARNING", {"01000", "nothing is undone: changes of the table kv take effect at once"});
  status_ = 'I';
  has_changed_ = false;
}

awaitable<> session::send_rows(stream& s, portal& p, std::int32_t most_rows) {
  const statement& what = *p.what;
  constexpr std::size_t chunk = 16 * 1024;
  std::int64_t count = 0;
  for (std::vector<value> row; next_row(p, row);) {
    out_.data_row(row, what.columns, p.formats);
    if (++count == most_rows) co_return out_.bare('s');  // PortalSuspended
    if (out_.data().size() < chunk) continue;
    co_await send(s);
    check_interrupts(s);
  }
  if (p.tag.ends_with(' ')) p.tag += std::to_string(what.columns.empty() ? p.changed : quintet::as_size(count));
  out_.command_complete(p.tag);
}

bool session::next_row(portal& p, std::vector<value>& row) const {
  if (!p.rows.empty()) {
    row = std::move(p.rows.back());
    p.rows.pop_back();
    return true;
  }
  if (p.left == 0) return false;
  if (p.what->does == action::series) {
    --p.left;
    row.assign(1, p.next);
    p.next += p.left > 0 ? 1 : 0;  // does not overflow
    return true;
  }
  auto found = all_->store.first_from(p.next);
  if (!found) return false;
  p.left = found->first == std::numeric_limits<std::int64_t>::max() ? 0 : 1;
  p.next = found->first + static_cast<std::int64_t>(p.left);
  row = {found->first, std::move(found->second)};
  return true;
}

void session::check_interrupts(stream& s) {
  if (cancel_->requested.exchange(false)) throw sql_error("57014", "canceling statement due to user request");
  if (s.loop().time().now() >= deadline_) throw sql_error("57014", "canceling statement due to statement timeout");
}

}  // namespace postgres
