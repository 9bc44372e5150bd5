// SPDX-License-Identifier: BSL-1.0
// loop_services: at most one object of each type per loop (a database client, a cache), made at its first use.
#pragma once

#include <memory>
#include <typeindex>
#include <unordered_map>

namespace quintet {

class event_loop;

class loop_services {
 public:
  template <class T>
  T& use(event_loop& loop) {
    auto& slot = slots_[std::type_index(typeid(T))];
    if (!slot) slot = std::make_shared<T>(loop);  // shared_ptr<void> remembers how to destroy a T
    return *static_cast<T*>(slot.get());
  }
  /// Destroys all objects, one by one. A destructor may use other services; those already destroyed are made again.
  void clear() noexcept {
    while (!slots_.empty()) (void)slots_.extract(slots_.begin());
  }

 private:
  std::unordered_map<std::type_index, std::shared_ptr<void>> slots_;
};

}  // namespace quintet
