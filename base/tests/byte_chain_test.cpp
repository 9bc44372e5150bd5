// SPDX-License-Identifier: BSL-1.0
// byte_chain_test: bytes are read in the order in which they were appended, and memory use follows their number.
#include <quintet/base/memory/byte_chain.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace quintet {
namespace {

std::string contents(const byte_chain& chain) {
  std::vector<iovec> pieces(10'000);
  pieces.resize(chain.gather(pieces));
  std::string all;
  for (const iovec& piece : pieces) all.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  return all;
}

std::string pattern(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::string s(size, '\0');
  for (char& c : s) c = static_cast<char>(random());
  return s;
}

const void* place_of(const byte_chain& chain) {
  std::array<iovec, 1> first{};
  BOOST_REQUIRE(chain.gather(first) == 1u);
  return first[0].iov_base;
}

BOOST_AUTO_TEST_CASE(a_new_one_is_empty_and_holds_nothing) {
  chunk_cache spare;
  byte_chain chain;
  BOOST_TEST(chain.empty());
  BOOST_TEST(!chain.has_storage());
  BOOST_TEST(contents(chain).empty());
  chain.consume(0, spare);
  chain.append("", nullptr);
  BOOST_TEST(!chain.has_storage());
}

BOOST_AUTO_TEST_CASE(try_append_stays_within_the_chunk_at_hand) {
  chunk_cache spare;
  byte_chain chain;
  BOOST_TEST(!chain.try_append("x"));
  spare.allocate(chain);
  BOOST_TEST(chain.has_storage());
  BOOST_TEST(chain.empty());
  BOOST_TEST(chain.try_append("x"));
  BOOST_TEST(!chain.try_append(pattern(byte_chain::chunk_size)));
  BOOST_TEST(contents(chain) == "x");
}

BOOST_AUTO_TEST_CASE(what_spans_many_chunks_comes_out_whole) {
  chunk_cache spare;
  const std::string data = pattern(1'000'003);
  byte_chain chain;
  chain.append(bytes(data).substr(0, 10), nullptr);
  chain.append(bytes(data).substr(10), &spare);
  BOOST_TEST(chain.size() == data.size());
  BOOST_TEST((contents(chain) == data));
}

BOOST_AUTO_TEST_CASE(bytes_never_move) {
  byte_chain chain;
  chain.append("first", nullptr);
  const void* place = place_of(chain);
  chain.append(pattern(5'000'000), nullptr);
  BOOST_TEST(place_of(chain) == place);
}

BOOST_AUTO_TEST_CASE(consuming_gives_chunks_back_one_by_one) {
  chunk_cache spare;
  byte_chain chain, next;
  chain.append(pattern(3 * byte_chain::chunk_size), &spare);
  const void* first = place_of(chain);
  chain.consume(byte_chain::chunk_size, spare);
  spare.allocate(next);
  BOOST_REQUIRE(next.try_append("x"));
  BOOST_TEST(place_of(next) == first);
}

BOOST_AUTO_TEST_CASE(one_that_is_empty_again_starts_from_the_beginning_of_its_chunk) {
  chunk_cache spare;
  byte_chain chain;
  spare.allocate(chain);
  for (int i = 0; i < 100; ++i) {
    BOOST_REQUIRE(chain.try_append(std::string(1000, 'x')));
    chain.consume(1000, spare);
    BOOST_REQUIRE(chain.empty());
  }
}

BOOST_AUTO_TEST_CASE(what_is_referred_to_is_not_copied_and_lives_until_it_is_consumed) {
  chunk_cache spare;
  auto whole = std::make_shared<const std::string>(pattern(100'000));
  const std::weak_ptr<const std::string> watched = whole;
  const std::string expected = "before" + whole->substr(7) + "after";
  byte_chain chain;
  chain.append("before", &spare);
  chain.append(std::move(whole), 7);
  chain.append("after", &spare);
  BOOST_TEST((contents(chain) == expected));
  chain.consume(6, spare);
  BOOST_TEST(place_of(chain) == watched.lock()->data() + 7);
  chain.consume(100'000 - 8, spare);
  BOOST_TEST(!watched.expired());
  chain.consume(1, spare);
  BOOST_TEST(watched.expired());
  BOOST_TEST(contents(chain) == "after");
}

BOOST_AUTO_TEST_CASE(a_reference_alone_leaves_nothing_behind) {
  chunk_cache spare;
  byte_chain chain;
  chain.append(std::make_shared<const std::string>("all of it"), 0);
  chain.consume(9, spare);
  BOOST_TEST(chain.empty());
  BOOST_TEST(!chain.has_storage());
}

BOOST_AUTO_TEST_CASE(gathering_stops_where_the_space_does) {
  byte_chain chain;
  for (int i = 0; i < 5; ++i) chain.append(std::make_shared<const std::string>(std::to_string(i)), 0);
  std::array<iovec, 3> pieces{};
  BOOST_TEST(chain.gather(pieces) == 3u);
  BOOST_TEST(static_cast<const char*>(pieces[2].iov_base)[0] == '2');
}

BOOST_AUTO_TEST_CASE(splicing_moves_what_is_large_and_copies_what_is_small) {
  chunk_cache spare;
  byte_chain chain, large, small;
  chain.append("a", &spare);
  const std::string data = pattern(100'000);
  large.append(data, &spare);
  const void* moved = place_of(large);
  chain.splice(large, spare);
  BOOST_TEST(large.empty());
  BOOST_TEST(!large.has_storage());
  small.append("b", &spare);
  chain.splice(small, spare);
  BOOST_TEST(!small.has_storage());
  BOOST_TEST((contents(chain) == "a" + data + "b"));
  chain.consume(1, spare);
  BOOST_TEST(place_of(chain) == moved);
}

// As with a peer that does not read: many batches of a few bytes must not take a chunk each.
BOOST_AUTO_TEST_CASE(many_small_ones_share_chunks) {
  chunk_cache spare;
  byte_chain chain;
  const std::string word(100, 'w');
  for (int i = 0; i < 10'000; ++i) {
    byte_chain batch;
    batch.append(word, &spare);
    chain.splice(batch, spare);
  }
  std::vector<iovec> pieces(10'000);
  BOOST_TEST(chain.size() == 1'000'000u);
  BOOST_TEST(chain.gather(pieces) <= 2 * 1'000'000 / byte_chain::chunk_size);
}

// Even if they would fit into the last chunk.
BOOST_AUTO_TEST_CASE(splicing_copies_no_references) {
  chunk_cache spare;
  byte_chain chain, more;
  const auto shared = std::make_shared<const std::string>(pattern(5'000));
  chain.append("a", &spare);
  more.append("b", &spare);
  more.append(shared, 0);
  more.append("c", &spare);
  chain.splice(more, spare);
  BOOST_TEST((contents(chain) == "ab" + *shared + "c"));
  BOOST_TEST(shared.use_count() == 2);
  chain.consume(2, spare);
  BOOST_TEST(place_of(chain) == shared->data());
  chain.consume(shared->size(), spare);
  BOOST_TEST(shared.use_count() == 1);
}

// An unused chunk, allocated for copies, must not stay in the chain with each waiting reference.
BOOST_AUTO_TEST_CASE(splicing_takes_no_empty_chunk_along) {
  chunk_cache spare;
  byte_chain chain, more;
  const auto shared = std::make_shared<const std::string>(pattern(5'000));
  for (int i = 0; i < 3; ++i) {
    spare.allocate(more);
    more.append(shared, 0);
    BOOST_TEST(!more.is_one_piece());
    chain.splice(more, spare);
    BOOST_TEST(chain.is_one_piece() == (i == 0));
  }
  BOOST_TEST((contents(chain) == *shared + *shared + *shared));
}

BOOST_AUTO_TEST_CASE(splicing_into_an_empty_one_and_from_an_empty_one) {
  chunk_cache spare;
  byte_chain chain, more;
  spare.allocate(chain);
  chain.splice(more, spare);
  BOOST_TEST(chain.empty());
  more.append("x", &spare);
  chain.splice(more, spare);
  BOOST_TEST(contents(chain) == "x");
  BOOST_TEST(!more.has_storage());
}

BOOST_AUTO_TEST_CASE(taking_back_drops_what_is_left) {
  chunk_cache spare;
  auto whole = std::make_shared<const std::string>("shared");
  byte_chain chain, next;
  chain.append("secret", &spare);
  chain.append(whole, 0);
  spare.recycle(chain);
  BOOST_TEST(!chain.has_storage());
  BOOST_TEST(whole.use_count() == 1);
  spare.allocate(next);
  BOOST_TEST(next.empty());
}

BOOST_AUTO_TEST_CASE(more_spares_than_the_cache_keeps) {
  chunk_cache spare;
  byte_chain chain;
  chain.append(pattern((chunk_cache::spare_chunks + 10) * byte_chain::chunk_size), nullptr);
  chain.consume(chain.size(), spare);
  BOOST_TEST(chain.empty());
}

BOOST_AUTO_TEST_CASE(what_is_allocated_in_advance_is_used_and_kept) {
  constexpr std::size_t much = 100 * byte_chain::chunk_size;
  chunk_cache spare(much);
  std::set<const void*> first, second;
  for (auto* places : {&first, &second}) {
    byte_chain chain;
    chain.append(pattern(much), &spare);
    std::vector<iovec> pieces(1000);
    pieces.resize(chain.gather(pieces));
    for (const iovec& piece : pieces) places->insert(piece.iov_base);
    spare.recycle(chain);
  }
  BOOST_TEST(first.size() >= 100U);
  BOOST_TEST((first == second));
}

// As a connection does: appends batches to waiting output, and the kernel takes a part. Each byte shows its position.
BOOST_AUTO_TEST_CASE(a_million_writes_and_sends_lose_and_move_nothing) {
  const std::string period = pattern(251);  // a prime
  const std::string endless = [&] {
    std::string s;
    while (s.size() < 6'000) s += period;
    return s;
  }();
  std::minstd_rand random(11);
  chunk_cache spare(1 << 20);
  byte_chain waiting;
  std::size_t written = 0, sent = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    if (const auto kind = random() % 4; kind != 0 && written - sent < 500'000) {
      byte_chain batch;
      const bytes piece = bytes(endless).substr(written % period.size(), 1 + random() % (kind == 1 ? 5'000 : 100));
      batch.append(piece, &spare);
      written += piece.size();
      waiting.splice(batch, spare);
    } else if (!waiting.empty()) {
      std::array<iovec, 1> first{};
      BOOST_REQUIRE(waiting.gather(first) == 1U);
      const bytes front(static_cast<const char*>(first[0].iov_base), std::min(first[0].iov_len, std::size_t{5'000}));
      BOOST_REQUIRE((front == bytes(endless).substr(sent % period.size(), front.size())));
      const std::size_t taken = random() % (front.size() + 1);
      waiting.consume(taken, spare);
      sent += taken;
    }
    BOOST_REQUIRE(waiting.size() == written - sent);
  }
  BOOST_TEST(sent > 100'000'000U);
}

// Compares random operations with those of a string.
BOOST_AUTO_TEST_CASE(any_order_of_operations_is_that_of_a_string) {
  std::mt19937 random(7);
  const auto up_to = [&](std::size_t most) { return random() % (most + 1); };
  chunk_cache spare;
  byte_chain chain;
  std::string model;
  for (unsigned i = 0; i < 3000; ++i) {
    const std::string piece = pattern(up_to(i % 7 == 0 ? 40'000 : 300), i);
    switch (up_to(5)) {
      case 0:
        chain.append(std::make_shared<const std::string>(piece), piece.size() / 2);
        model += piece.substr(piece.size() / 2);
        break;
      case 1: {
        byte_chain batch;
        batch.append(piece, i % 2 ? &spare : nullptr);
        if (i % 3 == 0) batch.append(std::make_shared<const std::string>(piece), 0);
        chain.splice(batch, spare);
        model += i % 3 == 0 ? piece + piece : piece;
        break;
      }
      case 2:
        if (chain.try_append(piece)) model += piece;
        break;
      case 3:
        chain.append(piece, &spare);
        model += piece;
        break;
      default: {
        const std::size_t count = up_to(std::min<std::size_t>(model.size(), 30'000));
        chain.consume(count, spare);
        model.erase(0, count);
      }
    }
    BOOST_REQUIRE(chain.size() == model.size());
    if (i % 50 == 0) BOOST_REQUIRE((contents(chain) == model));
  }
  BOOST_TEST((contents(chain) == model));
}

const void* lent_to(byte_chain& chain, chunk_cache& from) {
  from.lend(chain);
  BOOST_REQUIRE(chain.try_append("x"));
  return place_of(chain);
}

BOOST_AUTO_TEST_CASE(the_same_chunk_is_lent_again_and_given_to_nobody_else) {
  chunk_cache spare;
  byte_chain chain, other;
  const void* const place = lent_to(chain, spare);
  spare.allocate(other);
  BOOST_TEST(other.try_append("y"));
  BOOST_TEST(place_of(other) != place);
  spare.take_back(chain);
  BOOST_TEST(!chain.has_storage());
  BOOST_TEST(lent_to(chain, spare) == place);
  BOOST_TEST(contents(chain) == "x");
  spare.recycle(chain);  // as a flush does
  spare.allocate(chain);
  BOOST_TEST(chain.try_append("z"));
  BOOST_TEST(place_of(chain) != place);
  spare.take_back(chain);
  BOOST_TEST(lent_to(chain, spare) == place);
  spare.take_back(chain);
}

BOOST_AUTO_TEST_CASE(a_lent_chunk_can_be_given_away) {
  chunk_cache spare;
  byte_chain chain, other;
  const void* const place = lent_to(chain, spare);
  chain.append(pattern(3 * byte_chain::chunk_size), &spare);  // it is the first, not the last
  spare.give_away(chain);
  BOOST_TEST(lent_to(other, spare) != place);
  BOOST_TEST(place_of(chain) == place);
  spare.recycle(chain);
  spare.give_away(chain);  // has none
  spare.take_back(other);
  BOOST_TEST(lent_to(other, spare) != place);
  spare.take_back(other);
}

}  // namespace
}  // namespace quintet
