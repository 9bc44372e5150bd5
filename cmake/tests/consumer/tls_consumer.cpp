// SPDX-License-Identifier: BSL-1.0
// tls_consumer: a program that links quintet::tls, and OpenSSL by that.
#include <quintet/net/tls.hpp>

#include <cstdio>

int main() try {
  const quintet::tls_context none(quintet::tls_options{.certificates = {{"no such file", "nor this"}}});
  return 1;
} catch (const quintet::config_error& e) {
  std::puts(e.what());
  return 0;
}
