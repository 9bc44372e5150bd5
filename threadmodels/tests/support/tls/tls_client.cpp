// SPDX-License-Identifier: BSL-1.0
// tls_client: OpenSSL over memory, under a mutex, because one thread may send while another one receives. A thread
// makes the handshake, so that a client need not wait for a server that cannot answer yet.
#include "tls_client.hpp"

#include "../../../../net/tests/support/certificates.hpp"
#include "../../../../net/tests/support/sockets.hpp"

#include <quintet/net/tls.hpp>

#include <openssl/ssl.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace quintet::test {
namespace {

using testing::freed_by;

class tls_stream final : public client::stream {
 public:
  tls_stream(client raw, const tls_client_options& o) : raw_(std::move(raw)), ssl_(SSL_new(context())) {
    SSL_set_min_proto_version(ssl_.get(), o.version);
    SSL_set_max_proto_version(ssl_.get(), o.version);
    if (!o.chain_file.empty() && (SSL_use_certificate_chain_file(ssl_.get(), o.chain_file.c_str()) != 1 ||
                                  SSL_use_PrivateKey_file(ssl_.get(), o.key_file.c_str(), SSL_FILETYPE_PEM) != 1))
      throw std::runtime_error("client: cannot use " + o.chain_file);
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_.get());
    if (!o.server_name.empty()) SSL_set_tlsext_host_name(ssl_.get(), o.server_name.c_str());
    const std::string protocols = static_cast<char>(o.protocol.size()) + o.protocol;
    if (!o.protocol.empty())
      SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                          static_cast<unsigned>(protocols.size()));
    connecting_ = std::thread([this] { connect(); });
  }
  ~tls_stream() override {
    try {
      if (!has_finished_ && is_connected()) say_goodbye();
    } catch (const std::runtime_error&) {  // the server reads nothing
    }
  }

  bool send(std::string_view data) override {
    if (!is_connected()) return false;
    const std::lock_guard order(sending_);
    while (!data.empty()) {
      std::unique_lock lock(mutex_);
      const std::string_view some = data.substr(0, 16 * 1024);
      if (SSL_write(ssl_.get(), some.data(), static_cast<int>(some.size())) <= 0) return false;
      const std::string records = take_records();
      lock.unlock();
      if (!raw_.send(records)) return false;
      data.remove_prefix(some.size());
    }
    return true;
  }
  ending receive_to(std::string& buffer) override {
    if (!is_connected()) return ending::reset;
    for (;;) {
      std::unique_lock lock(mutex_);
      std::string plain(64 * 1024, '\0');
      std::size_t size = 0;
      while (size < plain.size()) {
        const int more = SSL_read(ssl_.get(), plain.data() + size, static_cast<int>(plain.size() - size));
        if (more <= 0) break;
        size += static_cast<std::size_t>(more);
      }
      buffer.append(plain, 0, size);
      if (size > 0) return ending::none;
      if (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) return ending::orderly;
      lock.unlock();
      if (!receive_records()) return ending::reset;
    }
  }
  void finish_sending() override {
    if (!is_connected()) return;
    has_finished_ = true;
    say_goodbye();
    raw_.finish_sending();
  }
  void reset_when_closed() override {
    (void)is_connected();
    has_finished_ = true;
    raw_.reset();
  }

 private:
  // Waits for the handshake. Two threads may ask.
  bool is_connected() {
    const std::lock_guard one(joining_);
    if (connecting_.joinable()) connecting_.join();
    return is_connected_;
  }
  void connect() try {
    while (!is_connected_ && !is_broken_) {
      std::unique_lock lock(mutex_);
      const int done = SSL_do_handshake(ssl_.get());
      const int error = done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), done);
      const std::string records = take_records();
      lock.unlock();
      if (!records.empty() && !raw_.send(records)) is_broken_ = true;
      is_connected_ = done == 1;
      if (!is_connected_) is_broken_ = is_broken_ || error != SSL_ERROR_WANT_READ || !receive_records();
    }
  } catch (const std::runtime_error&) {  // the server has said nothing
  }
  bool receive_records() {
    const std::string more = raw_.receive_some();
    const std::lock_guard lock(mutex_);
    return BIO_write(SSL_get_rbio(ssl_.get()), more.data(), static_cast<int>(more.size())) > 0;
  }
  std::string take_records() {
    BIO* const from = SSL_get_wbio(ssl_.get());
    std::string records(BIO_ctrl_pending(from), '\0');
    if (!records.empty()) BIO_read(from, records.data(), static_cast<int>(records.size()));
    return records;
  }
  void say_goodbye() {
    const std::lock_guard order(sending_);
    std::unique_lock lock(mutex_);
    SSL_shutdown(ssl_.get());
    const std::string records = take_records();
    lock.unlock();
    raw_.send(records);
  }

  // One for all: making it takes milliseconds.
  static SSL_CTX* context() {
    static const std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>> made(SSL_CTX_new(TLS_client_method()));
    static const bool is_set = [] {
      SSL_CTX_set_security_level(made.get(), 0);  // as a client of long ago
      SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
      return true;
    }();
    (void)is_set;
    return made.get();
  }

  client raw_;
  std::unique_ptr<SSL, freed_by<SSL_free>> ssl_;  // guarded by mutex_
  std::mutex joining_, sending_, mutex_;
  bool is_connected_ = false, is_broken_ = false;  // of the handshake's thread, until it has ended
  bool has_finished_ = false;
  std::thread connecting_;  // guarded by joining_
};

}  // namespace

client over_tls(client raw, const tls_client_options& options) {
  return client(std::make_unique<tls_stream>(std::move(raw), options));
}

std::shared_ptr<handshake_source> any_tls() {
  static const std::shared_ptr<handshake_source> made = [] {
    const testing::scratch_directory folder;
    const testing::certificate_files files(folder.file("any"), testing::certificate());
    // A client that closes without having read its tickets would reset the connection.
    return std::make_shared<tls_context>(tls_options{.certificates = {{files.chain, files.key}}, .tickets = 0});
  }();
  return made;
}

}  // namespace quintet::test
