// SPDX-License-Identifier: BSL-1.0
// client: a blocking socket for tests. It uses nothing of the library under test, unless it is over shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace quintet {
class shared_memory_client;
}

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
  /// Connects over shared memory to the Unix address of a server. Such a client must stay on one thread.
  static client over_shared_memory(const std::string& at);
  client(client&& other) noexcept;
  client& operator=(client&& other) noexcept;
  ~client();

  /// Returns false if the peer has closed the connection before it took all of `data`.
  bool send(std::string_view data);
  /// Returns exactly `count` bytes, or fewer if the stream ends before.
  std::string receive(std::size_t count);
  /// Fills `whole` without allocating. Returns false if the stream ends before. Do not mix it with the other functions.
  bool receive_into(std::string& whole);
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
  client();
  bool receive_memory();
  bool receive_more();

  int fd_ = -1;
  std::unique_ptr<shared_memory_client> memory_;  // instead of the descriptor
  std::string buffer_;
  ending ended_ = ending::none;
};

}  // namespace quintet::test
