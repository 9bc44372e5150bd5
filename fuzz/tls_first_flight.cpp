// SPDX-License-Identifier: BSL-1.0
// tls_first_flight: whatever a client sends before it has proved a key, cuts change nothing, and no handshake ends
// well.
#include "fuzz.hpp"

#include "certificates.hpp"

#include <quintet/net/engine/filter/handshake.hpp>
#include <quintet/net/tls.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include <unistd.h>

namespace {

using namespace quintet;
using fuzz::require;

/// Reads its certificate from a folder that is removed before main() can end.
tls_context& server() {
  static const std::unique_ptr<tls_context> made = [] {
    const auto folder = std::filesystem::temp_directory_path() / ("quintet_fuzz_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    const testing::certificate_files files((folder / "own").string(), testing::certificate());
    auto context =
        std::make_unique<tls_context>(tls_options{.certificates = {{files.chain, files.key}}, .protocols = {"echo"}});
    std::filesystem::remove_all(folder);
    return context;
  }();
  return *made;
}

/// Returns how it ends: no error while it waits for more.
error_code shake_hands(const std::vector<bytes>& pieces) {
  std::string in, out;
  std::unique_ptr<handshake> begun;
  for (const bytes piece : pieces) {
    in += piece;
    if (!begun) {
      const handshake_source::first_record first = server().examine(in);
      if (first.failed) return first.failed;
      if (!first.is_whole) continue;
      begun = server().begin({});
    }
    const std::size_t before = out.size();
    const handshake::result step = begun->step(in, out);
    require(step.consumed <= in.size(), "a step takes what it was given");
    require(!step.is_done, "nobody finishes a handshake without the server's answer");
    require(out.size() - before <= 64 * 1024, "an answer is short");
    if (step.failed) return step.failed;
    in.erase(0, step.consumed);
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::input in(data, size);
  const std::uint8_t plan = in.byte();
  const bytes flight = in.rest();
  const error_code at_once = shake_hands({flight});
  fuzz::for_each_cut(flight, plan, [&](const std::vector<bytes>& pieces) {
    require(shake_hands(pieces) == at_once, "cuts change nothing");
  });
  return 0;
}
