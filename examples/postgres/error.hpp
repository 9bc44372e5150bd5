// SPDX-License-Identifier: BSL-1.0
// error: what a client is told, with an SQLSTATE code. An sql_error ends a statement, a fatal_error the connection.
#pragma once

#include <stdexcept>
#include <string>

namespace postgres {

class sql_error : public std::runtime_error {
 public:
  sql_error(const char* sqlstate, const std::string& message) : std::runtime_error(message), sqlstate_(sqlstate) {}
  [[nodiscard]] const char* sqlstate() const noexcept { return sqlstate_; }

 private:
  const char* sqlstate_;
};

class fatal_error : public sql_error {
 public:
  using sql_error::sql_error;
};

}  // namespace postgres
