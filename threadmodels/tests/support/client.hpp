// SPDX-License-Identifier: BSL-1.0
// client: a blocking socket of the test's side. It knows nothing of the library that it tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quintet::test {

struct client_options {
  int receive_buffer = 0;  ///< SO_RCVBUF, set before connecting; 0: the system's
  std::string host = "127.0.0.1";
};

/// How the other side ended the stream.
enum class ending { none, orderly, reset };
std::string_view to_string(ending e);

/// Throws std::runtime_error when it cannot connect, and when nothing happens for as long as the tests' patience lasts.
class client {
 public:
  explicit client(std::uint16_t port, const client_options& options = {});
  /// Takes over a connected socket of any family.
  static client over(int fd);
  client(client&& other) noexcept;
  client& operator=(client&& other) noexcept;
  ~client();

  /// False: the peer has closed the connection before all of it was taken.
  bool send(std::string_view data);
  /// Exactly so many bytes, or fewer when the stream ends before.
  std::string receive(std::size_t count);
  /// Fills `whole`, without allocating; false when the stream ends before. Not to be mixed with the other functions.
  bool receive_into(std::string& whole);
  /// Up to the next line end, which is not returned; what there is when the stream ends before.
  std::string receive_line();
  /// Up to the end of the stream.
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
  std::string buffer_;
  ending ended_ = ending::none;
};

}  // namespace quintet::test
