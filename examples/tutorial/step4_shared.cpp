// SPDX-License-Identifier: BSL-1.0
// step4_shared: step 4 of the tutorial: all connections share values, under a lock.
#include "common/options.hpp"
#include "tutorial/wire.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace {

/// Shared by all connections, whose handlers may run on several threads at once. Each function is one step for all
/// others, because it holds the lock from its first look to its last change.
class store {
 public:
  std::optional<std::size_t> get(quintet::bytes key) const {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Adds one, and returns the sum; nothing if the key is new and there are already `most` of them.
  std::optional<std::size_t> add(quintet::bytes key) {
    const std::lock_guard lock(mutex_);
    auto found = values_.find(key);
    if (found == values_.end()) {
      if (values_.size() >= most) return std::nullopt;
      found = values_.emplace(key, 0).first;
    }
    return ++found->second;
  }

 private:
  static constexpr std::size_t most = 100'000;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> values_;
};

struct session {
  store* all;  // shared; it outlives the server

  void operator()(quintet::connection& c, quintet::bytes request) const {
    const quintet::bytes command = tutorial::take_word(request);
    std::optional<std::size_t> value;
    if (command == "get")
      value = all->get(request);
    else if (command == "add")
      value = all->add(request);
    else
      return tutorial::reply(c, "error: the commands are get and add");
    tutorial::reply(c, value ? std::to_string(*value) : "error: no such counter");  // the lock is free again
  }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7104"});
  example::command_line("step4_shared", "Step 4 of the tutorial: counters that all connections share.")
      .server(config)
      .try_it("  step4_shared &\n  tutorial_ask --connections 4 --times 250 7104 'add n'\n  tutorial_ask 7104 'get n'")
      .parse(argc, argv);
  try {
    store values;  // before the server, so that it is destroyed after it
    quintet::server server(config, quintet::framed(tutorial::wire, session{&values}));
    example::serve("step4_shared", config, server);
  } catch (...) {
    return example::report_exception("step4_shared");
  }
}
