// SPDX-License-Identifier: BSL-1.0
// handshake: what comes before a filter: the exchange that agrees on its keys. No I/O, and no TLS library.
#pragma once

#include "../../../base/error.hpp"
#include "../../../base/memory/byte_buffer.hpp"
#include "filter.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace quintet {

/// One handshake, as steps on memory. One thread at a time.
class handshake {
 public:
  handshake(const handshake&) = delete;
  handshake& operator=(const handshake&) = delete;
  virtual ~handshake() = default;

  struct result {
    std::size_t consumed = 0;  ///< of `in`; the caller presents the rest again, with more behind it
    bool is_done = false;
    error_code failed = {};
  };
  /// Takes whole records from the beginning of `in`. Appends to `out` what has to be sent, also after a failure: the
  /// peer may be told why. Bytes behind the last record of the handshake are not consumed. Throws std::bad_alloc.
  virtual result step(bytes in, std::string& out) = 0;
  /// Returns whether the next step signs and verifies nothing and agrees on no key, so that it takes microseconds.
  [[nodiscard]] virtual bool is_light() const noexcept { return false; }
  /// Returns the filter. Once, after `is_done`. Throws std::bad_alloc.
  virtual std::unique_ptr<filter> take_filter() = 0;

 protected:
  handshake() = default;
};

/// Begins the handshakes of one listener, or of one client. All functions: [any thread].
class handshake_source {
 public:
  handshake_source(const handshake_source&) = delete;
  handshake_source& operator=(const handshake_source&) = delete;
  virtual ~handshake_source() = default;

  struct first_record {
    bool is_whole = false;
    error_code failed = {};  ///< it is none that a handshake can begin with
  };
  /// Looks at the first bytes of a peer. A handshake needs much memory, so it begins once this record is whole. A
  /// client speaks first: no bytes are all that it needs.
  [[nodiscard]] virtual first_record examine(bytes first) const noexcept = 0;
  /// `server`: the name by which a client has found its server; empty for a listener. Throws std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<handshake> begin(std::string_view server) = 0;

 protected:
  handshake_source() = default;
};

}  // namespace quintet
