// SPDX-License-Identifier: BSL-1.0
// missing_include: the server's header has no `framed`. doc/reference.md lists each type with its header.
// error: is not a member of
#include <quintet/threadmodels/server.hpp>

struct echo {
  void operator()(quintet::connection& c, quintet::bytes in) const { c.write(in); }
};

template <class Codec>
auto serve(Codec codec) {
  return quintet::framed(codec, echo());
}
