// SPDX-License-Identifier: BSL-1.0
// settings: the few that drivers ask for.
#include "settings.hpp"

#include "error.hpp"
#include "value.hpp"

namespace postgres {

settings::settings()
    : all_{{"server_version", {"15.0", "server_version"}},
           {"server_encoding", {"UTF8", "server_encoding"}},
           {"client_encoding", {"UTF8", "client_encoding"}},
           {"datestyle", {"ISO, MDY", "DateStyle"}},
           {"intervalstyle", {"postgres", "IntervalStyle"}},
           {"timezone", {"UTC", "TimeZone"}},
           {"integer_datetimes", {"on", "integer_datetimes"}},
           {"standard_conforming_strings", {"on", "standard_conforming_strings"}},
           {"application_name", {"", "application_name"}},
           {"extra_float_digits", {"1"}},
           {"search_path", {"public"}},
           {"statement_timeout", {"0"}},
           {"transaction_isolation", {"read committed"}},
           {"default_transaction_isolation", {"read committed"}},
           {"version", {"PostgreSQL 15.0 protocol on Quintet"}},
           {"pg_advisory_unlock_all", {""}}} {}

const settings::entry& settings::at(const std::string& name) const {
  const auto found = all_.find(name);
  if (found == all_.end()) throw sql_error("42704", "unrecognized configuration parameter \"" + name + '"');
  return found->second;
}

const settings::entry& settings::set(const std::string& name, const std::string& to) {
  (void)at(name);
  if (name == "statement_timeout") (void)parse_value(to, type::int4, format::text);
  if (name == "client_encoding" && to != "UTF8" && to != "UTF-8" && to != "utf8" && to != "utf-8")
    throw sql_error("0A000", "the only client_encoding is UTF8");
  entry& changed = all_[name];
  changed.value = name == "client_encoding" ? "UTF8" : to;
  return changed;
}

}  // namespace postgres
