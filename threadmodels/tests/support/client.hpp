// SPDX-License-Identifier: BSL-1.0
// client: a blocking socket for tests. It uses nothing of the library under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace quintet::test {

struct client_options {
  int receive_buffer = 0;  ///< SO_RCVBUF, set before connecting; 0: the system default
  std::string host = "127.0.0.1";
};

/// How the other side ended the stream.
enum class ending { none, orderly, reset };
std::string_view to_string(ending e);

/// Throws std::system_error if it cannot connect, and std::runtime_error if nothing happens during `patience`.
class client {
 public:
  explicit client(std::uint16_t port, const client_options& options = {});
  /// Takes over a connected socket of any family.
  static client over(int fd);
  /// Another kind of stream than a socket. The functions are those of a client.
  class stream {
   public:
    stream() = default;
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    virtual ~stream() = default;
    virtual bool send(std::string_view data) = 0;
    /// Appends received bytes. Returns how the stream has ended if nothing more comes.
    virtual ending receive_to(std::string& buffer) = 0;
    virtual void finish_sending() = 0;
    virtual void reset_when_closed() = 0;
  };
  explicit client(std::unique_ptr<stream> other) : stream_(std::move(other)) {}
  client(client&& other) noexcept;
  client& operator=(client&& other) noexcept;
  ~client();

  /// Returns false if the peer has closed the connection before it took all of `data`.
  bool send(std::string_view data);
  /// Returns exactly `count` bytes, or fewer if the stream ends before.
  std::string receive(std::size_t count);
  /// Fills `whole` without allocating. Returns false if the stream ends before. Do not mix it with the other functions.
  bool receive_into(std::string& whole);
  /// Returns bytes that have come; empty: the stream has ended.
  std::string receive_some();
  /// Returns the bytes before the next line end, or what there is when the stream ends.
  std::string receive_line();
  /// Returns the bytes up to the end of the stream.
  std::string receive_rest();
  [[nodiscard]] ending ended() const noexcept { return ended_; }

  void finish_sending();  ///< half-close
  void reset();           ///< close with a reset
  void close();

 private:
  struct adopted {};
  client(adopted, int fd);
  bool receive_more();

  int fd_ = -1;
  std::unique_ptr<stream> stream_;  // instead of the descriptor
  std::string buffer_;
  ending ended_ = ending::none;
};

}  // namespace quintet::test
