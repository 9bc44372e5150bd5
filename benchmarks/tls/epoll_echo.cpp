// SPDX-License-Identifier: BSL-1.0
// epoll_echo: the same server by hand, as small as OpenSSL and epoll allow: one loop, one pair of memory BIOs for all
// connections, no limits, and no care for peers that do not read. For comparisons only.
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

struct connection {
  int socket;
  SSL* ssl;
};

class echo {
 public:
  echo(const char* certificate, const char* key) : context_(SSL_CTX_new(TLS_server_method())) {
    if (SSL_CTX_use_certificate_chain_file(context_, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context_, key, SSL_FILETYPE_PEM) != 1)
      std::exit(1);
    SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    sockaddr_in at{};
    socklen_t size = sizeof at;
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    if (::bind(listener_, address, size) != 0 || ::listen(listener_, 4096) != 0 ||
        ::getsockname(listener_, address, &size) != 0)
      std::exit(1);
    watch(listener_, nullptr);
    watch(end_.socket, &end_);
    std::printf("%d\n", ntohs(at.sin_port));
    std::fflush(stdout);
  }
  void run() {
    std::array<epoll_event, 256> ready{};
    for (bool told_to_end = false; !told_to_end;) {
      const int count = ::epoll_wait(set_, ready.data(), static_cast<int>(ready.size()), -1);
      for (int i = 0; i < count; ++i) {
        auto* const c = static_cast<connection*>(ready[static_cast<std::size_t>(i)].data.ptr);
        if (!c)
          accept();
        else if (c == &end_)
          told_to_end = true;
        else
          receive(*c);
      }
    }
  }

 private:
  static int end_signal() {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &one, nullptr);
    return ::signalfd(-1, &one, 0);
  }
  void watch(int socket, connection* c) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = c;
    if (::epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event) != 0) std::exit(1);
  }
  void accept() {
    const int socket = ::accept(listener_, nullptr, nullptr);
    if (socket < 0) return;
    SSL* const ssl = SSL_new(context_);
    BIO_up_ref(in_);
    BIO_up_ref(out_);
    SSL_set_bio(ssl, in_, out_);
    SSL_set_accept_state(ssl);
    watch(socket, new connection{socket, ssl});
  }
  void receive(connection& c) {
    const ssize_t got = ::recv(c.socket, records_.data(), records_.size(), 0);
    if (got <= 0) {
      ::close(c.socket);
      SSL_free(c.ssl);
      delete &c;
      return;
    }
    ERR_clear_error();
    BIO_write(in_, records_.data(), static_cast<int>(got));
    int size = 0;
    for (int more = 1; more > 0; size += more > 0 ? more : 0)
      more = SSL_read(c.ssl, plain_.data() + size, static_cast<int>(plain_.size()) - size);
    if (size > 0) SSL_write(c.ssl, plain_.data(), size);
    char* data = nullptr;
    const long waiting = BIO_get_mem_data(out_, &data);
    if (waiting > 0) (void)!::send(c.socket, data, static_cast<std::size_t>(waiting), MSG_NOSIGNAL);
    BIO_reset(out_);
  }

  SSL_CTX* const context_;
  BIO* const in_ = BIO_new(BIO_s_mem());
  BIO* const out_ = BIO_new(BIO_s_mem());
  const int listener_ = ::socket(AF_INET, SOCK_STREAM, 0), set_ = ::epoll_create1(0);
  connection end_{end_signal(), nullptr};
  std::array<char, 65536> records_{}, plain_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("epoll-tls-echo: it must be called as: epoll-tls-echo CERTIFICATE KEY\n", stderr);
    return 2;
  }
  rlimit most{};
  ::getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_cur = most.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &most);
  static echo server(argv[1], argv[2]);
  server.run();
}
