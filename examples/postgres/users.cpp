// SPDX-License-Identifier: BSL-1.0
// users: reads the file, and the messages that both ways to authenticate share.
#include "users.hpp"

#include <fstream>
#include <stdexcept>

namespace postgres {

void users::load(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("--users " + path + ": the file cannot be read");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.find(':');
    if (colon == line.npos || colon == 0 || colon + 1 == line.size())
      throw std::runtime_error("--users " + path + ": line " + std::to_string(number) + " is not NAME:PASSWORD");
    add(line.substr(0, colon), bytes(line).substr(colon + 1));
  }
  if (secrets_.empty()) throw std::runtime_error("--users " + path + ": the file has no user");
}

quintet::awaitable<std::string> read_password_message(quintet::stream& s) {
  message_codec codec(largest_startup_packet);
  const bytes message = (co_await s.read_message(codec)).value();
  if (message.front() != 'p') throw fatal_error("08P01", "expected a password message");
  co_return std::string(message.substr(message_header));
}

void request_password(quintet::stream& s, std::int32_t code, bytes data) {
  message_writer out;
  out.authentication(code, data);
  s.write(out.data());
}

}  // namespace postgres
