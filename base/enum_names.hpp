// SPDX-License-Identifier: BSL-1.0
// enum_names: one table of names for each enumeration that has them; to_string() and from_string() read it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace quintet {

/// One row of a table.
template <class E>
struct enum_name {
  E value;                ///< an enumerator
  std::string_view name;  ///< as text has it
};

/// The table of an enumeration, beside its declaration:
///
///     template <>
///     inline constexpr auto enum_names<colour> = std::to_array<enum_name<colour>>({{colour::red, "red"}, ...});
template <class E>
inline constexpr std::nullptr_t enum_names = nullptr;

/// An enumeration with a table.
template <class E>
concept named_enum = std::is_enum_v<E> && !std::is_same_v<decltype(enum_names<E>), const std::nullptr_t>;

/// [any thread] Returns the enumerator's name, as on every command line, in JSON and in the log.
template <named_enum E>
[[nodiscard]] constexpr std::string_view to_string(E value) noexcept {
  for (const auto& row : enum_names<E>)
    if (row.value == value) return row.name;
  return "unknown";
}

/// [any thread] Returns the enumerator of a name, or nothing: `from_string<accept_strategy>("exclusive")`
template <named_enum E>
[[nodiscard]] constexpr std::optional<E> from_string(std::string_view text) noexcept {
  for (const auto& row : enum_names<E>)
    if (row.name == text) return row.value;
  return std::nullopt;
}

/// All enumerators that have names, in the order of the table.
template <named_enum E>
inline constexpr auto enumerators = [] {
  std::array<E, enum_names<E>.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = enum_names<E>[i].value;
  return all;
}();

/// [any thread] Returns "epoll, asio, uring": for messages and for --help.
template <class Enumerators>
[[nodiscard]] std::string names_of(const Enumerators& all) {
  std::string names;
  for (const auto one : all) names.append(names.empty() ? "" : ", ").append(to_string(one));
  return names;
}
template <named_enum E>
[[nodiscard]] std::string names_of() {
  return names_of(enumerators<E>);
}

}  // namespace quintet
