// SPDX-License-Identifier: BSL-1.0
// contention_report.hpp: shared against separate at each number of threads, and published figures beside them.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "report/document.hpp"

namespace quintet::bench {

inline constexpr const char *shared_peer = "asio-shared", *separate_peer = "asio-separate";

std::string contention_table(const comparison &);
// What every command writes, and beside it "ratios" and "published".
boost::json::object compose_contention(const comparison &);

}  // namespace quintet::bench
