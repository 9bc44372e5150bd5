// SPDX-License-Identifier: BSL-1.0
// sequences_test: random sequences of everything that a program may call and a client may do, judged by a model.
// ctest: LIBS quintet_sequences TIMEOUT 300
#include "trial.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t length = 200;  // of a sequence

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t usual = 200;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint64_t usual = 200;
#else
constexpr std::uint64_t usual = 2000;
#endif
#else
constexpr std::uint64_t usual = 2000;
#endif

/// Behind `--` on the command line.
std::uint64_t argument(std::string_view name, std::uint64_t otherwise) {
  const auto& all = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i + 1 < all.argc; ++i)
    if (all.argv[i] == name) return std::strtoull(all.argv[i + 1], nullptr, 10);
  return otherwise;
}

std::uint64_t count() {
  const char* const wanted = std::getenv("QUINTET_SEQUENCES");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

}  // namespace

BOOST_DATA_TEST_CASE(random_sequences, bdata::xrange(1U, 6U), model) {
  const std::uint64_t seed = argument("--seed", 0);
  if (argument("--model", model) != model) return;
  for (const failure& found : try_seeds(model, seed != 0 ? seed : 1, seed != 0 ? 1 : count(), length))
    BOOST_TEST(false, describe(found, model, length));
}
