// SPDX-License-Identifier: BSL-1.0
// storm: new connections at a constant rate, and what established ones and the priority port feel of it.
#include "load/connect.hpp"
#include "load/epoll_set.hpp"
#include "load/histogram.hpp"
#include "unique_fd.hpp"

#include <openssl/ssl.h>

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using time_source = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct freed {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};
namespace bench = quintet::bench;
using ssl_ptr = std::unique_ptr<SSL, freed>;
const std::unique_ptr<SSL_CTX, freed> context{SSL_CTX_new(TLS_client_method())};

/// Ends with a reset, so that no port waits.
class connection {
 public:
  enum class how : bool { established, begun };
  connection(std::uint16_t port, how by)
      : socket_(by == how::begun ? bench::start_connect(here(port)) : bench::connect_blocking(here(port), 5000)) {
    if (!socket_) throw std::system_error(errno, std::generic_category(), "cannot connect");
  }
  connection(connection&&) noexcept = default;
  connection& operator=(connection&&) = delete;
  ~connection() {
    ssl_.reset();
    if (socket_) bench::close_with_reset(socket_);
  }
  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  SSL& use_tls() {
    ssl_.reset(SSL_new(context.get()));
    if (!ssl_ || SSL_set_fd(ssl_.get(), socket()) != 1) throw std::bad_alloc();
    SSL_set_connect_state(ssl_.get());
    return *ssl_;
  }
  [[nodiscard]] SSL* tls() const noexcept { return ssl_.get(); }
  [[nodiscard]] bool echo() const {
    std::array<char, 64> text{};
    const int size = text.size();
    if (ssl_) return SSL_write(ssl_.get(), text.data(), size) == size && SSL_read(ssl_.get(), text.data(), size) > 0;
    return ::send(socket(), text.data(), text.size(), MSG_NOSIGNAL) == size &&
           ::recv(socket(), text.data(), text.size(), 0) > 0;
  }

 private:
  static bench::socket_address here(std::uint16_t port) { return bench::resolve({.host = "127.0.0.1", .port = port}); }
  bench::unique_fd socket_;
  ssl_ptr ssl_;
};

struct options {
  std::uint16_t plain, tls, priority;
  std::string_view storm;
  int seconds, rate;
  std::size_t outstanding;
};

// Set by main(), when a measurement is over.
std::atomic<bool> is_over{false};

/// An echo each millisecond, round robin.
class prober {
 public:
  prober(std::uint16_t port, bool by_tls, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      connection& made = all_.emplace_back(port, connection::how::established);
      if (by_tls && SSL_do_handshake(&made.use_tls()) != 1) throw std::runtime_error("a handshake has failed");
    }
    for (const connection& each : all_) must_echo(each);
  }
  void run() {
    auto next = time_source::now();
    for (std::size_t i = 0; !is_over; ++i) {
      std::this_thread::sleep_until(next += 1ms);
      const auto begun = time_source::now();
      must_echo(all_[i % all_.size()]);
      times_.record(static_cast<std::uint64_t>(std::chrono::nanoseconds(time_source::now() - begun).count()));
    }
  }
  void print(const char* name) const {
    std::printf("%s %.0f %.0f ", name, static_cast<double>(times_.percentile(50)) / 1000,
                static_cast<double>(times_.percentile(99)) / 1000);
  }

 private:
  static void must_echo(const connection& on) {
    if (!on.echo()) throw std::runtime_error("an established connection has ended");
  }
  std::vector<connection> all_;
  bench::histogram times_;
};

/// Opens connections at a constant rate. Each ends after its handshake, or its echo.
class storm {
 public:
  storm(std::uint16_t port, bool by_tls, int rate) : port_(port), by_tls_(by_tls), gap_(1'000'000'000 / rate) {}
  void run() {
    // Its own work must not delay those that are measured.
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
    for (auto next = time_source::now(); !is_over;) {
      for (; next <= time_source::now(); next += gap_) open();
      go_on();
    }
  }
  void print() const { std::printf("done %llu open %zu ", static_cast<unsigned long long>(done_), open_.size()); }

 private:
  void open() {
    connection made(port_, connection::how::begun);
    const int socket = made.socket();
    events_.add(socket, EPOLLIN | EPOLLOUT | EPOLLET, static_cast<std::uint32_t>(socket));
    if (by_tls_) made.use_tls();
    open_.emplace(socket, std::move(made));
  }
  void go_on() {
    for (const epoll_event& ready : events_.wait(1'000'000)) {
      const auto found = open_.find(static_cast<int>(ready.data.u32));
      if (found == open_.end() || !is_done(found->second, ready.events)) continue;
      open_.erase(found);
      ++done_;
    }
  }
  static bool is_done(const connection& one, std::uint32_t events) {
    if (!one.tls()) {
      std::array<char, 64> text{};
      if (events & EPOLLIN) return ::recv(one.socket(), text.data(), text.size(), 0) > 0;
      (void)!::send(one.socket(), text.data(), text.size(), MSG_NOSIGNAL);
      return false;
    }
    if (SSL_do_handshake(one.tls()) == 1) return true;
    if (SSL_get_error(one.tls(), -1) == SSL_ERROR_SSL) throw std::runtime_error("a handshake of the storm has failed");
    return false;
  }

  const std::uint16_t port_;
  const bool by_tls_;
  const std::chrono::nanoseconds gap_;
  bench::epoll_set events_;
  std::unordered_map<int, connection> open_;
  std::uint64_t done_ = 0;
};

/// Connections that have sent the beginning of a first record.
std::vector<connection> half_open(std::uint16_t port, std::size_t count) {
  std::vector<connection> all;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::string_view part("\x16\x03\x01\x02\x00\x01", 6);
    if (::send(all.emplace_back(port, connection::how::established).socket(), part.data(), part.size(), MSG_NOSIGNAL) <
        0)
      throw std::runtime_error("send");
  }
  return all;
}

void measure(const options& o) {
  const bool by_tls = o.storm == "tls";
  prober established(o.tls, true, 10), priority(o.priority, false, 2);
  const std::vector<connection> outstanding = half_open(o.tls, by_tls ? o.outstanding : 0);
  storm new_ones(by_tls ? o.tls : o.plain, by_tls, o.rate);
  std::vector<std::thread> threads;
  if (o.storm != "none") threads.emplace_back([&] { new_ones.run(); });
  threads.emplace_back([&] { established.run(); });
  threads.emplace_back([&] { priority.run(); });
  std::this_thread::sleep_for(std::chrono::seconds(o.seconds));
  is_over = true;
  for (std::thread& t : threads) t.join();
  established.print("established");
  priority.print("priority");
  new_ones.print();
  std::puts("");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 8) {
    std::fputs(
        "tls-storm: it must be called as: tls-storm PLAIN TLS PRIORITY none|plain|tls SECONDS RATE OUTSTANDING\n"
        "The first three are ports. Prints microseconds (p50, p99) of echoes, and the storm's connections.\n",
        stderr);
    return 2;
  }
  const auto port = [argv](int i) { return static_cast<std::uint16_t>(std::atoi(argv[i])); };
  measure({port(1), port(2), port(3), argv[4], std::atoi(argv[5]), std::atoi(argv[6]),
           static_cast<std::size_t>(std::atoi(argv[7]))});
} catch (const std::exception& e) {
  std::fprintf(stderr, "tls-storm: %s\n", e.what());
  return 1;
}
