// SPDX-License-Identifier: BSL-1.0
// planted_bugs: the generator of call sequences finds defects that are switched on for it, within its budget of a run.
// ctest: LIBS quintet_sequences TIMEOUT 300
#include <quintet/base/build/planted_bugs.hpp>

#include "trial.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <ostream>
#include <string>

using namespace quintet::testing;
using quintet::detail::bug;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::size_t length = 200;
constexpr std::uint64_t budget = 2000;  // sequences of each model, as in sequences_test
constexpr std::uint64_t portion = 50;

struct planting {
  bug which;
  const char* name;
};
std::ostream& operator<<(std::ostream& out, const planting& p) { return out << p.name; }

constexpr std::array<planting, 7> plantings{{
    {bug::settle_is_reentered, "the next step is run within itself"},
    {bug::new_output_is_progress, "send_timeout begins anew when there is more output"},
    {bug::outside_output_is_no_activity, "idle_timeout does not see output from outside"},
    {bug::stop_walks_a_changing_list, "a loop that stops uses a member that has gone"},
    {bug::on_writable_is_lost, "on_writable does not come"},
    {bug::messages_are_torn, "output from outside lies within a message"},
    {bug::input_is_lost_on_a_move, "input is lost when a connection moves"},
}};

/// How many sequences it takes; 0: the budget was not enough.
std::uint64_t sequences_to_find(std::string& what) {
  for (std::uint64_t first = 1; first <= budget; first += portion)
    for (unsigned model = 1; model <= 5; ++model)
      if (const auto found = try_seeds(model, first, portion, length, 1); !found.empty()) {
        what = found.front().what;
        return 5 * (first - 1) + portion * (model - 1) + (found.front().seed - first) + 1;
      }
  return 0;
}

}  // namespace

BOOST_DATA_TEST_CASE(is_found, bdata::make(plantings), planted) {
  quintet::detail::planted_bug = planted.which;
  std::string what;
  const std::uint64_t count = sequences_to_find(what);
  quintet::detail::planted_bug = bug::none;
  BOOST_TEST(count > 0U);
  BOOST_TEST_MESSAGE(planted << ": found after " << count << " sequences: " << what);
}

BOOST_AUTO_TEST_CASE(nothing_is_found_where_nothing_is_planted) {
  for (unsigned model = 1; model <= 5; ++model) BOOST_TEST(try_seeds(model, 1, portion, length, 1).empty());
}
