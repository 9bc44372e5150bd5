// SPDX-License-Identifier: BSL-1.0
// codecs.cpp: uses what quintet::base exports, and catches what it throws.
#include <quintet/base/error.hpp>
#include <quintet/base/framing/checked.hpp>
#include <quintet/base/framing/envelope.hpp>
#include <quintet/base/framing/fixed_length.hpp>
#include <quintet/base/framing/length_prefix.hpp>

#include <boost/system/system_error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace {

bool is_caught() {
  try {
    const quintet::fixed_length none(std::size_t{0});
  } catch (const quintet::config_error&) {
    try {
      quintet::throw_system_error(EINVAL, "codecs");
    } catch (const boost::system::system_error& e) {
      return e.code() == boost::system::errc::invalid_argument;
    }
  }
  return false;
}

}  // namespace

int main() {
  const quintet::checked wire(quintet::length_prefix<4>(5));
  quintet::envelope fits("hello"), too_long("hello!");
  const bool right = !wire.wrap(fits) && wire.wrap(too_long) == quintet::errc::message_too_big && is_caught();
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
