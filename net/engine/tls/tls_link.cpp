// SPDX-License-Identifier: BSL-1.0
// tls_link: calls OpenSSL, whose BIO is the caller's memory.
#include "tls_link.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace quintet::tls {

const BIO_METHOD* tls_link::memory_of_caller() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "quintet");
    if (!made) throw std::bad_alloc();
    BIO_meth_set_read(made, &tls_link::read_bio);
    BIO_meth_set_write(made, &tls_link::write_bio);
    BIO_meth_set_ctrl(made, &tls_link::control_bio);
    return made;  // for the life of the process: SSL objects may outlive static destructors
  }();
  return method;
}

tls_link::tls_link(SSL_CTX& of) : ssl_(SSL_new(&of)) {
  const empty_errors around;
  bio_ptr bio(BIO_new(memory_of_caller()));
  if (!ssl_ || !bio) throw std::bad_alloc();
  BIO_set_data(bio.get(), this);
  BIO_set_init(bio.get(), 1);
  BIO* const both = bio.release();
  SSL_set_bio(ssl_.get(), both, both);
  if (is_server())
    SSL_set_accept_state(ssl_.get());
  else
    SSL_set_connect_state(ssl_.get());
}

// A name may end with the root's dot, which certificates leave out.
void tls_link::expect(const std::string& server, bool must_have_name) {
  const empty_errors around;
  const std::string name = server.ends_with('.') ? server.substr(0, server.size() - 1) : server;
  const octets_ptr address(a2i_IPADDRESS(name.c_str()));
  bool is_done = address || name.empty() || SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
  if (must_have_name) {
    SSL_set_hostflags(ssl_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    is_done &= address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), name.c_str()) == 1
                       : SSL_set1_host(ssl_.get(), name.c_str()) == 1;
  }
  if (!is_done) throw std::bad_alloc();
}

int tls_link::read_bio(BIO* bio, char* to, int size) noexcept {
  auto& self = *static_cast<tls_link*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const std::size_t count = self.in_.copy(to, static_cast<std::size_t>(std::max(size, 0)));
  self.in_.remove_prefix(count);
  if (count > 0) return static_cast<int>(count);
  BIO_set_retry_read(bio);
  return -1;
}

int tls_link::write_bio(BIO* bio, const char* from, int size) noexcept try {
  auto& self = *static_cast<tls_link*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto count = static_cast<std::size_t>(std::max(size, 0));
  if (self.late_.empty() && count <= self.out_.size()) {
    std::memcpy(self.out_.data(), from, count);
    self.out_ = self.out_.subspan(count);
  } else {
    self.late_.append(from, count);
  }
  return size;
} catch (const std::bad_alloc&) {
  return -1;
}

long tls_link::control_bio(BIO*, int command, long, void*) noexcept { return command == BIO_CTRL_FLUSH ? 1 : 0; }

tls_link::result tls_link::outcome(int returned, errc otherwise) const noexcept {
  switch (SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return {};
    case SSL_ERROR_ZERO_RETURN:
      return {.is = state::ended};
    default:
      return {.is = state::failed, .failed = reason_of_failure(*ssl_, otherwise)};
  }
}

tls_link::result tls_link::shake_hands(bytes records) noexcept {
  const empty_errors around;
  in_ = records;
  const int returned = SSL_do_handshake(ssl_.get());
  result r = returned == 1 ? result{.is = state::secured} : outcome(returned, errc::tls_handshake_failed);
  if (r.is == state::ended) r = {.is = state::failed, .failed = errc::tls_alert};  // anybody may have sent it
  r.consumed = records.size() - std::exchange(in_, {}).size();
  return r;
}

tls_link::result tls_link::read(bytes records, std::span<char> plain) noexcept {
  const empty_errors around;
  in_ = records;
  result r;
  const int returned = SSL_read_ex(ssl_.get(), plain.data(), plain.size(), &r.produced);
  if (returned != 1) r = outcome(returned, errc::tls_bad_record);
  r.consumed = records.size() - std::exchange(in_, {}).size();
  return r;
}

tls_link::result tls_link::write(bytes plain, std::span<char> records) noexcept {
  const empty_errors around;
  out_ = records;
  result r;
  const int returned = SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &r.consumed);
  if (returned != 1) r = outcome(returned, errc::tls_bad_record);
  if (returned != 1 && r.is == state::working) r = {.is = state::failed, .failed = errc::tls_bad_record};
  r.produced = records.size() - std::exchange(out_, {}).size();
  return r;
}

tls_link::result tls_link::shut_down(std::span<char> records) noexcept {
  const empty_errors around;
  out_ = records;
  (void)SSL_shutdown(ssl_.get());  // after a failure it makes nothing, and the peer gets the alert of that
  return {.produced = records.size() - std::exchange(out_, {}).size()};
}

std::size_t tls_link::take_late(std::span<char> records) noexcept {
  if (late_.empty()) [[likely]]
    return 0;
  const std::size_t count = late_.copy(records.data(), records.size());
  late_.erase(0, count);
  if (late_.empty()) late_ = {};  // also its memory
  return count;
}

}  // namespace quintet::tls
