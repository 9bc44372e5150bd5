// SPDX-License-Identifier: BSL-1.0
// bytes: views of bytes, and bytes with several owners.
#pragma once

#include <memory>
#include <string>
#include <string_view>

/// All names of the library. `quintet::detail` and its other inner namespaces may change in any release.
namespace quintet {

/// A view of bytes. The memory has another owner; each function that hands out a view says how long the view is valid.
using bytes = std::string_view;

/// Bytes that several owners share without copies.
using shared_bytes = std::shared_ptr<const std::string>;

}  // namespace quintet
