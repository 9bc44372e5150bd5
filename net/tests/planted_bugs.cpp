// SPDX-License-Identifier: BSL-1.0
// planted_bugs: the generator of call sequences finds defects that are switched on for it, within its budget of a run.
// ctest: LIBS quintet_sequences TIMEOUT 300
#include <quintet/base/build/planted_bugs.hpp>

#include "trial.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

using namespace quintet::testing;
using quintet::detail::bug;
namespace bdata = boost::unit_test::data;

namespace {

constexpr std::uint64_t budget = 2000;  // sequences of each model, as in sequences_test
constexpr std::uint64_t portion = 50;

struct planting {
  bug which;
  const char* name;
  std::vector<std::string_view> complaints;  // one of them is what the oracle has to say
};
std::ostream& operator<<(std::ostream& out, const planting& p) { return out << p.name; }

const std::vector<planting> plantings{
    {bug::steps_are_reentered, "the next step is run within itself", {"it ends by ", "overlaps another call"}},
    {bug::new_output_is_progress,
     "send_timeout begins anew when there is more output",
     {"a time limit has not ended it"}},
    {bug::outside_output_is_no_activity,
     "idle_timeout does not see output from outside",
     {"on_close is told a reason that is none: no input or output for idle_timeout"}},
    {bug::stop_walks_a_changing_list, "a loop that stops uses a member that has gone", {"it ends by "}},
    {bug::on_writable_is_lost,
     "on_writable does not come",
     {"on_writable or until_writable() does not come although everything has left"}},
    {bug::messages_are_torn,
     "output from outside lies within a message",
     {"other bytes lie within a record", "no record begins where the one before has ended"}},
    {bug::input_is_lost_on_a_move,
     "input is lost when a connection moves",
     {"the handler is called without input", "input is missing, doubled or out of place",
      "what is delivered is not what was sent", "the program is not given input that has arrived"}},
    {bug::output_is_lost_at_the_end,
     "the last output is lost when the peer has half-closed",
     {"after an orderly end", "the end is an orderly one"}},
};

/// The first failure, and how many sequences it has taken; 0: the budget was not enough.
std::uint64_t sequences_to_find(std::string& what) {
  for (std::uint64_t first = 1; first <= budget; first += portion)
    for (unsigned model = 1; model <= 5; ++model) {
      const search wanted{.model = model, .first = first, .count = portion, .most = 1, .announces = false};
      if (const auto found = try_seeds(wanted); !found.empty()) {
        what = found.front().what;
        return 5 * (first - 1) + portion * (model - 1) + (found.front().seed - first) + 1;
      }
    }
  return 0;
}

bool is_expected(const planting& p, const std::string& what) {
  return std::ranges::any_of(p.complaints, [&](std::string_view c) { return what.find(c) != std::string::npos; });
}

}  // namespace

BOOST_DATA_TEST_CASE(is_found, bdata::make(plantings), planted) {
  quintet::detail::planted_bug = planted.which;
  std::string what;
  const std::uint64_t count = sequences_to_find(what);
  quintet::detail::planted_bug = bug::none;
  BOOST_REQUIRE(count > 0U);
  BOOST_TEST(is_expected(planted, what), "another complaint than this defect's was found: " << what);
  BOOST_TEST_MESSAGE(planted << ": found after " << count << " sequences: " << what);
}

// The same sequences: what is found above is the defect that was planted.
BOOST_DATA_TEST_CASE(nothing_is_found_where_nothing_is_planted, bdata::xrange(1U, 6U), model) {
  for (const failure& found : try_seeds({.model = model, .first = 1, .count = budget}))
    BOOST_TEST(false, "seed " << found.seed << " fails: " << found.what);
}
