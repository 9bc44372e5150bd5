// SPDX-License-Identifier: BSL-1.0
// linked: the copies in two shared objects that the program is linked with.
#include "copies.hpp"

namespace quintet::test {

const bool copies::share_functions = true;

copies::copies() : left(quintet_test_left()), right(quintet_test_right()) {}

}  // namespace quintet::test
