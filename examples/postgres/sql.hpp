// SPDX-License-Identifier: BSL-1.0
// sql: a parser for the few statements that this server knows. sql.cpp begins with a list of them.
#pragma once

#include "protocol.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace postgres {

/// A literal, or a parameter such as $1.
struct operand {
  value literal = {};
  std::size_t parameter = 0;  ///< its number, from 1 on; 0: a literal
  type as = type::unknown;    ///< its type, by a cast or by its position in the statement
};

// clang-format off
enum class action { nothing, select_values, sleep, series, sum, select_all, select_row, insert, update,
                    begin, commit, rollback, set, show, deallocate, ignored };
// clang-format on

struct statement {
  action does = action::nothing;
  bytes tag = {};                       ///< of CommandComplete; if it ends with a space, the number of rows is added
  std::vector<column> columns = {};     ///< of the result; none: the statement returns no rows
  std::vector<operand> operands = {};   ///< from left to right
  std::vector<std::string> names = {};  ///< of columns and settings, from left to right
  std::vector<type> parameters = {};    ///< types of $1, $2, ...
};

/// Returns the statements of a text, which semicolons separate. `given`: the types of $1, $2, ... that the client has
/// declared. Throws sql_error.
[[nodiscard]] std::vector<statement> parse_sql(bytes text, const std::vector<type>& given = {});
/// Changes ASCII letters only.
[[nodiscard]] std::string to_lower(std::string s);

}  // namespace postgres
