// SPDX-License-Identifier: BSL-1.0
// bytes: how bytes are shown, and how several owners hold them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace quintet {

/// A view of bytes. The memory has another owner; each function that hands out a view says how long the view is valid.
using bytes = std::string_view;

/// Bytes that several owners hold without a copy for each.
using shared_bytes = std::shared_ptr<const std::string>;

}  // namespace quintet
