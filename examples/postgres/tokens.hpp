// SPDX-License-Identifier: BSL-1.0
// tokens: the words, numbers, texts and signs of SQL.
#pragma once

#include <quintet/base/bytes.hpp>

#include <string>
#include <vector>

namespace postgres {

struct token {
  enum class kind { end, word, number, text, parameter, sign };
  kind is = kind::end;
  std::string value = {};  ///< a word in lower case, a text without its quotes, a parameter without $

  /// Returns whether this is the word or sign.
  [[nodiscard]] bool operator==(quintet::bytes s) const { return (is == kind::word || is == kind::sign) && value == s; }
};

/// Of the letters of ASCII, as names are compared.
[[nodiscard]] std::string to_lower(std::string s);
/// Returns all tokens; the last one is the end. Throws sql_error.
[[nodiscard]] std::vector<token> tokenize(quintet::bytes text);

}  // namespace postgres
