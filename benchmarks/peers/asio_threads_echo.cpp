// SPDX-License-Identifier: BSL-1.0
// asio_threads_echo.cpp: the Asio echo with several threads, which share one io_context or have one each.
#include "peers/asio_session.hpp"
#include "peers/makers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

namespace quintet::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Main's io_context accepts and assigns connections round robin. No lock is needed beyond Asio's own: a session has
/// one operation at a time.
class asio_threads_echo final : public listening_peer {
 public:
  asio_threads_echo(const peer_options& o, bool shared)
      : listening_peer(o),
        threads_(o.threads),
        contexts_(make_contexts(o.threads, shared)),
        acceptor_(main(), tcp::v4(), ::dup(listening().get())),
        stop_(main(), ::dup(stop_fd())) {}

  void run() override {
    stop_.async_wait(asio::posix::descriptor_base::wait_read, [this](error_code) {
      for (auto& context : contexts_) context->stop();
    });
    accept();
    std::vector<asio::executor_work_guard<asio::io_context::executor_type>> no_end;
    for (auto& context : contexts_) no_end.push_back(asio::make_work_guard(*context));
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads_; ++i) {
      others.emplace_back([&context = *contexts_[i % contexts_.size()]] { context.run(); });
    }
    main().run();
  }

 private:
  static std::vector<std::unique_ptr<asio::io_context>> make_contexts(unsigned threads, bool shared) {
    std::vector<std::unique_ptr<asio::io_context>> out;
    for (unsigned i = 0; i < (shared ? 1 : threads); ++i)
      out.push_back(std::make_unique<asio::io_context>(shared ? static_cast<int>(threads) : 1));
    return out;
  }

  asio::io_context& main() { return *contexts_.front(); }

  void accept() {
    auto& next = *contexts_[turn_++ % contexts_.size()];
    acceptor_.async_accept(next, [this, &next](error_code ec, tcp::socket socket) {
      error_code ignored;
      if (!ec) {
        socket.set_option(tcp::no_delay(true), ignored);
        // Start the session on its own io_context, as all its later steps.
        asio::post(next, [session = std::make_shared<asio_session>(std::move(socket))] { session->read(); });
      }
      accept();
    });
  }

  unsigned threads_;
  std::vector<std::unique_ptr<asio::io_context>> contexts_;
  tcp::acceptor acceptor_;
  asio::posix::stream_descriptor stop_;
  std::size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<peer_server> make_asio_shared_echo(const peer_options& o) {
  return std::make_unique<asio_threads_echo>(o, true);
}

std::unique_ptr<peer_server> make_asio_separate_echo(const peer_options& o) {
  return std::make_unique<asio_threads_echo>(o, false);
}

}  // namespace quintet::bench
