// SPDX-License-Identifier: BSL-1.0
// version: the option --version of every example.
#pragma once

#include <quintet/base/version.hpp>

#include <string>

namespace example {

/// Adds the option to a command line of CLI11, which then throws CLI::CallForVersion.
template <class App>
void add_version(App& app, const std::string& program) {
  app.set_version_flag("--version", program + " of Quintet " QUINTET_VERSION_STRING, "print the version and exit");
}

}  // namespace example
