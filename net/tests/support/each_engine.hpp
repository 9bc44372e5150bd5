// SPDX-License-Identifier: BSL-1.0
// each_engine: a test for every engine that this kernel has, and how such tests wait.
#pragma once

#include <quintet/net/engine/make_engine.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <chrono>
#include <functional>
#include <ostream>
#include <vector>

namespace quintet {

inline std::ostream& operator<<(std::ostream& out, engine_kind kind) { return out << to_string(kind); }

namespace testing {

/// The engines that this kernel has.
inline std::vector<engine_kind> usable() {
  std::vector<engine_kind> kinds;
  for (const engine_kind kind : built_engines())
    if (kind != engine_kind::automatic && !refused_by_kernel(kind)) kinds.push_back(kind);
  return kinds;
}

#define QUINTET_ENGINE_TEST(name) \
  BOOST_DATA_TEST_CASE(name, boost::unit_test::data::make(quintet::testing::usable()), kind)

/// A bound on the waiting that only a failing test meets.
inline bool until(engine& io, const std::function<bool()>& done) {
  for (int i = 0; i < 1000 && !done(); ++i) io.poll(std::chrono::milliseconds(10));
  return done();
}

}  // namespace testing
}  // namespace quintet
