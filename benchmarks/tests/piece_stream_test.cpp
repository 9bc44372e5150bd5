// SPDX-License-Identifier: BSL-1.0
// piece_stream_test: what is sent in pieces is recognised wherever it is cut, and nothing else is.
#include "piece_stream.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace quintet::bench {
namespace {

std::string of_pieces(const piece_stream& s, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += s.piece(i);
  return all;
}

BOOST_AUTO_TEST_CASE(sizes_are_within_their_range_and_differ) {
  const piece_stream s({8, 128});
  std::size_t least = 1000, most = 0;
  for (std::size_t i = 0; i < piece_stream::pieces; ++i) {
    least = std::min(least, s.piece(i).size());
    most = std::max(most, s.piece(i).size());
  }
  BOOST_TEST((least >= 8 && least < 20));
  BOOST_TEST((most <= 128 && most > 116));
  BOOST_TEST((s.mean_size() > 60 && s.mean_size() < 76));
  BOOST_TEST(piece_stream({7, 7}).mean_size() == 7.0);
}

BOOST_AUTO_TEST_CASE(it_matches_itself_at_any_cut) {
  const piece_stream s({8, 128});
  const std::string all = of_pieces(s, 3 * piece_stream::pieces);
  for (const std::size_t step : {1UL, 100UL, 4096UL, all.size()}) {
    for (std::size_t at = 0; at < all.size(); at += step)
      BOOST_REQUIRE(s.matches(at, std::string_view(all).substr(at, step)));
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_or_a_missing_byte_is_seen) {
  const piece_stream s({8, 128});
  std::string all = of_pieces(s, 2 * piece_stream::pieces);
  BOOST_TEST(!s.matches(1, all));
  all[all.size() / 2] ^= 1;
  BOOST_TEST(!s.matches(0, all));
}

BOOST_AUTO_TEST_CASE(sizes_of_a_command_line_are_bounded) {
  const auto sizes = parse_range("8..65536", piece_stream::largest);
  BOOST_TEST((sizes.min == 8U && sizes.max == 65536U));
  for (const char* wrong : {"8..65537", "0", "9..8", "x"})
    BOOST_CHECK_THROW(parse_range(wrong, piece_stream::largest), usage_error);
}

}  // namespace
}  // namespace quintet::bench
