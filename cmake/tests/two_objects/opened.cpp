// SPDX-License-Identifier: BSL-1.0
// opened: the copies in two shared objects that the program opens and closes with dlopen and dlclose.
#include "copies.hpp"

#include <stdexcept>

#include <dlfcn.h>

namespace quintet::test {
namespace {

std::shared_ptr<void> open(const char* path, const copy*& into) {
  std::shared_ptr<void> object(::dlopen(path, RTLD_NOW | RTLD_LOCAL), [](void* o) {
    if (o) ::dlclose(o);
  });
  if (!object) throw std::runtime_error(::dlerror());
  into = reinterpret_cast<const copy* (*)()>(::dlsym(object.get(), "quintet_test_copy"))();
  return object;
}

}  // namespace

const bool copies::share_functions = false;

copies::copies() {
  first_ = open(LEFT_OBJECT, left);
  second_ = open(RIGHT_OBJECT, right);
}

}  // namespace quintet::test
