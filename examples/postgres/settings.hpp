// SPDX-License-Identifier: BSL-1.0
// settings: what SET changes and SHOW shows. Drivers need some of them in ParameterStatus.
#pragma once

#include <map>
#include <string>

namespace postgres {

class settings {
 public:
  struct entry {
    std::string value;
    const char* reported_as = nullptr;  ///< its name in ParameterStatus; null: none
  };

  settings();
  /// Throws sql_error 42704 for an unknown name.
  [[nodiscard]] const entry& at(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const { return all_.contains(name); }
  /// Throws sql_error also for a value that is not supported.
  const entry& set(const std::string& name, const std::string& to);
  [[nodiscard]] const std::map<std::string, entry>& all() const noexcept { return all_; }

 private:
  std::map<std::string, entry> all_;
};

}  // namespace postgres
