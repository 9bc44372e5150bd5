// SPDX-License-Identifier: BSL-1.0
// tls_link: an SSL object that reads and writes the caller's memory.
#pragma once

#include "../../../base/error.hpp"
#include "../../../base/memory/byte_buffer.hpp"
#include "openssl.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace quintet::tls {

/// Has no buffer of its own: OpenSSL takes records from the memory that read() and shake_hands() are given, and writes
/// them into that of write() and shut_down(). A record that it writes at any other time, or that finds no room, is kept
/// as "late". One thread at a time; it stays where it is.
class tls_link {
 public:
  /// Throws std::bad_alloc.
  explicit tls_link(SSL_CTX& of);
  tls_link(const tls_link&) = delete;
  tls_link& operator=(const tls_link&) = delete;

  enum class state : unsigned char { working, secured, ended, failed };
  struct result {
    std::size_t consumed = 0;  ///< records
    std::size_t produced = 0;  ///< plain bytes
    state is = state::working;
    error_code failed = {};
  };
  /// For a client, before the handshake: names the server. A name is sent, an address is not. Throws std::bad_alloc.
  void expect(const std::string& server, bool must_have_name);
  /// Returns whether the handshake has not begun, and needs no records to begin: a client's.
  [[nodiscard]] bool speaks_first() const noexcept { return !is_server() && SSL_in_before(ssl_.get()) == 1; }
  /// Goes on with the handshake; is `secured` when it is complete.
  [[nodiscard]] result shake_hands(bytes records) noexcept;
  /// Decrypts at most one record with plain bytes. `ended`: close_notify has come.
  [[nodiscard]] result read(bytes records, std::span<char> plain) noexcept;
  /// Makes one record of all of `plain`, at most tls::longest_plain bytes. `produced` counts the bytes of records.
  [[nodiscard]] result write(bytes plain, std::span<char> records) noexcept;
  /// Makes close_notify.
  [[nodiscard]] result shut_down(std::span<char> records) noexcept;

  /// Returns whether read() has plain bytes without further records.
  [[nodiscard]] bool has_plain() const noexcept { return SSL_pending(ssl_.get()) > 0; }
  /// Moves late records to `records`, as many as fit; returns how many bytes.
  [[nodiscard]] std::size_t take_late(std::span<char> records) noexcept;
  [[nodiscard]] std::string& late() noexcept { return late_; }
  [[nodiscard]] const SSL& ssl() const noexcept { return *ssl_; }

 private:
  [[nodiscard]] bool is_server() const noexcept { return SSL_is_server(ssl_.get()) == 1; }
  static const BIO_METHOD* memory_of_caller();
  static int read_bio(BIO* bio, char* to, int size) noexcept;
  static int write_bio(BIO* bio, const char* from, int size) noexcept;
  static long control_bio(BIO* bio, int command, long number, void* pointer) noexcept;
  [[nodiscard]] result outcome(int returned, errc otherwise) const noexcept;

  bytes in_;             // for the call in progress
  std::span<char> out_;  // likewise: what is left of it
  std::string late_;
  ssl_ptr ssl_;
};

}  // namespace quintet::tls
