// SPDX-License-Identifier: BSL-1.0
// step3_session: step 3 of the tutorial: each connection has a state of its own.
#include "common/options.hpp"
#include "tutorial/wire.hpp"

#include <functional>
#include <map>
#include <string>

namespace {

/// The state of one connection. The server copies it for each, so no other thread ever sees these members.
class session {
 public:
  void operator()(quintet::connection& c, quintet::bytes request) {
    const quintet::bytes command = tutorial::take_word(request);
    if (command == "hello") return greet(c, request);
    if (name_.empty()) return refuse(c);
    if (command == "set") return set(c, request);
    if (command == "get") return get(c, request);
    tutorial::reply(c, "error: the commands are hello, set and get");
  }

 private:
  void greet(quintet::connection& c, quintet::bytes name) {
    name_ = name;
    tutorial::reply(c, "hello " + name_);
  }
  void refuse(quintet::connection& c) {
    tutorial::reply(c, "error: say hello first");
    if (++refused_ == 3) c.close();
  }
  void set(quintet::connection& c, quintet::bytes rest) {
    const quintet::bytes key = tutorial::take_word(rest);
    if (values_.size() >= 100 && !values_.contains(key)) return tutorial::reply(c, "error: you have 100 values");
    values_.insert_or_assign(std::string(key), std::string(rest));
    tutorial::reply(c, "ok");
  }
  void get(quintet::connection& c, quintet::bytes key) const {
    const auto found = values_.find(key);
    tutorial::reply(c, found == values_.end() ? "error: no such value" : found->second);
  }

  std::string name_;  // empty: not greeted yet
  int refused_ = 0;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7103"});
  example::command_line("step3_session", "Step 3 of the tutorial: keeps values for each connection.")
      .server(config)
      .try_it("  step3_session &\n  tutorial_ask 7103 'hello ann' 'set color blue' 'get color'")
      .parse(argc, argv);
  try {
    quintet::server server(config, quintet::framed(tutorial::wire, session()));
    example::serve("step3_session", config, server);
  } catch (...) {
    return example::report_exception("step3_session");
  }
}
