// SPDX-License-Identifier: BSL-1.0
// contention_report.hpp: shared versus separate contexts at each number of threads, with published figures.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "report/document.hpp"

namespace quintet::bench {

inline constexpr const char *shared_peer = "asio-shared", *separate_peer = "asio-separate";

std::string contention_table(const comparison &);
// Composes the keys of every command, "ratios" and "published".
boost::json::object compose_contention(const comparison &);

}  // namespace quintet::bench
