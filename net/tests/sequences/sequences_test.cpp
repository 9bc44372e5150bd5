// SPDX-License-Identifier: BSL-1.0
// sequences_test: random sequences of everything that a program may call and a client may do, judged by a model.
// ctest: LIBS quintet_sequences TIMEOUT 300
#include "sequences/number_from.hpp"
#include "trial.hpp"

#include <quintet/base/build/sanitizers.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

using namespace quintet::testing;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t sequence_length = 200;  // of a sequence

constexpr std::uint64_t usual = quintet::sanitized ? 200 : 2000;

/// Which sequences: all, or those that the command line names behind `--`.
struct choice {
  std::uint64_t seed = 0, model = 0, within = 0;
};
choice chosen() {
  choice c;
  const auto& all = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i < all.argc; i += 2) {
    const std::string_view name = all.argv[i];
    const std::string_view text = i + 1 < all.argc ? all.argv[i + 1] : "";
    std::uint64_t& value = name == "--seed" ? c.seed : name == "--model" ? c.model : c.within;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if ((name != "--seed" && name != "--model" && name != "--within") || failed != std::errc() ||
        end != text.data() + text.size() || value == 0 || c.model > 5)
      throw std::invalid_argument(std::string(name) + ": there are --seed NUMBER, --model 1 to 5 and --within NUMBER");
  }
  return c;
}

}  // namespace

BOOST_DATA_TEST_CASE(random_sequences, bdata::xrange(1U, 6U), model) {
  const choice only = chosen();
  if (only.within != 0 || (only.model != 0 && only.model != model)) return;
  const bool is_one = only.seed != 0;
  const search wanted{.model = model,
                      .first = is_one ? only.seed : 1,
                      .count = is_one ? 1 : number_from("QUINTET_SEQUENCES", usual),
                      .length = sequence_length};
  for (const failure& found : try_seeds(wanted)) BOOST_TEST(false, describe(found, model, sequence_length));
}

// For a run in which a failure is expected (net/tests/mutants): small portions of each model in turn, of so many
// sequences each, until one fails.
BOOST_AUTO_TEST_CASE(first_failure) {
  constexpr std::uint64_t portion = 50;
  for (std::uint64_t first = 1; first <= chosen().within; first += portion)
    for (unsigned model = 1; model <= 5; ++model)
      for (const failure& found : try_seeds({.model = model, .first = first, .count = portion, .most = 1})) {
        BOOST_TEST(false, "seed " << found.seed << " of model " << model << " fails: " << found.what);
        return;
      }
}
