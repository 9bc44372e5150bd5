// SPDX-License-Identifier: BSL-1.0
// type_text: types by name and as keys, in programs with RTTI and without.
#pragma once

#include <typeinfo>

namespace quintet::detail {

/// Returns a text with the name of T. readable_type() cuts the name out for a report.
template <class T>
constexpr const char* type_text() noexcept {
  return __PRETTY_FUNCTION__;
}

/// Unique for each type, except where objects of a program hide their symbols: each has an address of its own then.
template <class T>
inline char type_address = 0;

/// A type as a key. RTTI compares types of objects that hide their symbols. Without RTTI such types are different.
class type_key {
 public:
  template <class T>
  static type_key of() noexcept {
#ifdef __cpp_rtti
    return {&type_address<T>, &typeid(T)};
#else
    return {&type_address<T>, nullptr};
#endif
  }
  [[nodiscard]] bool operator==(const type_key& other) const noexcept {
    return address_ == other.address_ || (type_ && other.type_ && *type_ == *other.type_);
  }

 private:
  type_key(const void* address, const std::type_info* type) noexcept : address_(address), type_(type) {}

  const void* address_;
  const std::type_info* type_;
};

}  // namespace quintet::detail
