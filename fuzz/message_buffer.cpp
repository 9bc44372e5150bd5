// SPDX-License-Identifier: BSL-1.0
// message_buffer: after any sequence of operations, a buffer and an envelope hold the same bytes as a string.
#include "fuzz.hpp"

#include <quintet/base/framing/envelope.hpp>
#include <quintet/base/framing/message_buffer.hpp>

#include <string>
#include <utility>

namespace {

using namespace quintet;
using fuzz::require;

struct pair_of_buffers {
  explicit pair_of_buffers(std::size_t headroom) : real(headroom) {}
  message_buffer real;
  std::string model;
  void check() const {
    require(real.data() == model && real.payload() == model, "a buffer holds what was put into it");
    require(real.size() == model.size() && real.empty() == model.empty(), "a buffer knows its size");
  }
};

void step(pair_of_buffers& a, pair_of_buffers& b, fuzz::input& in) {
  const std::uint8_t what = in.byte();
  const bytes more = in.take(what / 8U);
  const bool moves_nothing = more.size() <= a.real.headroom() && a.real.size() > 0;
  const char* const before = a.real.data().data();
  switch (what % 8) {
    case 0:
      a.real.append(more);
      a.model.append(more);
      break;
    case 1:
      a.real.prepend(more);
      a.model.insert(0, more);
      require(!moves_nothing || a.real.data().data() + more.size() == before, "headroom is for prepend()");
      break;
    case 2:
      a.real.clear();
      a.model.clear();
      break;
    case 3:
      a.real.swap(b.real);
      a.model.swap(b.model);
      break;
    case 4:
      a.real = message_buffer(more, what % 40U);
      a.model = more;
      break;
    case 5: {
      message_buffer taken(std::move(a.real));
      require(taken.data() == a.model, "a moved buffer keeps its message");
      a.real = std::move(taken);
      break;
    }
    case 6:  // appends a part of itself
      if (a.model.size() > 2000) break;
      a.real.append(a.real.data().substr(a.real.size() / 2));
      a.model.append(std::string(a.model, a.model.size() / 2));
      break;
    default:
      if (a.model.size() > 2000) break;
      a.real.prepend(a.real.data().substr(a.real.size() / 2));
      a.model.insert(0, std::string(a.model, a.model.size() / 2));
  }
}

void check_buffers(fuzz::input in) {
  const std::size_t headroom = in.byte();
  pair_of_buffers a(headroom), b(0);
  while (!in.empty()) {
    step(a, b, in);
    a.check();
    b.check();
  }
}

void check_envelope(fuzz::input in) {
  const std::uint8_t size = in.byte();
  const bytes payload = in.take(size);
  envelope e(payload);
  std::string header, trailer;
  while (!in.empty()) {
    const std::uint8_t what = in.byte();
    const bytes more = in.take(what / 2U);
    const bool behind = what % 2 != 0;
    const bool fits = behind ? trailer.empty() : header.size() + more.size() <= envelope::header_room;
    try {
      behind ? e.append(more) : e.prepend(more);
      require(fits, "an envelope takes what it has room for");
      behind ? trailer = more : header.insert(0, more);
    } catch (const std::length_error&) {
      require(!fits, "an envelope has the room that it says");
    }
    std::string all;
    for (const bytes& piece : e.pieces()) all += piece;
    require(all == header + std::string(payload) + trailer && e.size() == all.size(), "an envelope keeps the order");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  in.byte() % 2 != 0 ? check_envelope(in) : check_buffers(in);
  return 0;
}
