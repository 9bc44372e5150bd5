// SPDX-License-Identifier: BSL-1.0
// accept_report.hpp: the accept strategies side by side, as text and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "report/document.hpp"

namespace quintet::bench {

std::string accept_table(const comparison&);
// Composes compose_figures() and "ratios": to the main reactor (connections) and to the hand-written loop (CPU).
boost::json::object compose_accept(const comparison&);

}  // namespace quintet::bench
