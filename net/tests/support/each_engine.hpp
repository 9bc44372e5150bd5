// SPDX-License-Identifier: BSL-1.0
// each_engine: runs a test with each engine that this kernel supports and with the one of doc/engines.md.
#pragma once

#include <quintet/net/engine/make_engine.hpp>

#include "poll_engine.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

namespace quintet {

inline std::ostream& operator<<(std::ostream& out, engine_kind kind) { return out << to_string(kind); }

namespace testing {

/// One of the library's engines, or poll_engine.
struct tested_engine {
  engine_kind kind = engine_kind::automatic;
  bool is_written = false;

  tested_engine(engine_kind k) : kind(k) {}
  static tested_engine written() {
    tested_engine e(engine_kind::automatic);
    e.is_written = true;
    return e;
  }
  bool operator==(const tested_engine&) const = default;
};
inline std::string_view to_string(tested_engine e) { return e.is_written ? "poll" : to_string(e.kind); }
inline std::ostream& operator<<(std::ostream& out, tested_engine e) { return out << to_string(e); }
inline std::unique_ptr<engine> make_engine(tested_engine e) {
  if (e.is_written) return std::make_unique<poll_engine>();
  return quintet::make_engine(e.kind);
}

/// Returns poll_engine and the engines that this kernel supports.
inline std::vector<tested_engine> usable() {
  std::vector<tested_engine> engines{tested_engine::written()};
  for (const engine_kind kind : built_engines())
    if (kind != engine_kind::automatic && !refused_by_kernel(kind)) engines.emplace_back(kind);
  return engines;
}

#define QUINTET_ENGINE_TEST(name) \
  BOOST_DATA_TEST_CASE(name, boost::unit_test::data::make(quintet::testing::usable()), kind)

/// Polls until done() holds. Stops after 1000 polls of at most 10 ms. Returns done().
inline bool until(engine& io, const std::function<bool()>& done) {
  for (int i = 0; i < 1000 && !done(); ++i) io.poll(std::chrono::milliseconds(10));
  return done();
}

}  // namespace testing
}  // namespace quintet
