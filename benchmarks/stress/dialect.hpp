// SPDX-License-Identifier: BSL-1.0
// dialect.hpp: protocols of servers under attack: a request, and when its reply is complete.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quintet::bench {

enum class reply_state : std::uint8_t {
  incomplete,
  complete,
  last,       ///< complete, and the server then closes the connection
  until_end,  ///< complete if the server closes the connection here: HTTP without a length
  wrong,
};

/// Number of bytes 'x' that may follow an unfinished request without completing it.
constexpr std::size_t unfinished_bytes = 15'000;

struct dialect {
  std::string_view name, help;
  std::string (*request)(unsigned number);                                       ///< differs from number to number
  reply_state (*check_reply)(std::string_view reply, std::string_view request);  ///< judges all bytes received so far
  std::string (*large_request)();                      ///< a request with a reply as long as the protocol offers
  std::string (*unfinished_request)(unsigned number);  ///< the beginning of a request, to be followed by bytes 'x'
};

extern const std::array<dialect, 3> dialects;

/// Parses "echo", "resp" or "http". Throws usage_error.
const dialect* parse_dialect(std::string_view name);

}  // namespace quintet::bench
