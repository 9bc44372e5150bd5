// SPDX-License-Identifier: BSL-1.0
// error: the texts of the library's own error category.
#include "error.hpp"

#include <boost/system/system_error.hpp>

namespace quintet {
namespace {

class category final : public boost::system::error_category {
 public:
  // Compared by this number, not by address: there may be a copy of the library in several shared objects of a process.
  constexpr category() noexcept : error_category(0x7175'696e'7465'7431U) {}

 private:
  const char* name() const noexcept override { return "quintet"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::end_of_stream:
        return "the peer has finished sending";
      case errc::stopped:
        return "the server was stopped";
      case errc::handler_threw:
        return "the handler left with an exception";
      case errc::message_too_big:
        return "a message is longer than allowed, or unused input than max_input";
      case errc::too_many_threads:
        return "max_threads connections have a thread already";
      case errc::no_such_connection:
        return "the connection has closed";
      case errc::output_full:
        return "the peer does not read: more output waits than high_watermark";
      case errc::output_overflow:
        return "more output would wait than max_output allows";
      case errc::first_byte_timeout:
        return "nothing was received within first_byte_timeout";
      case errc::idle_timeout:
        return "nothing happened for idle_timeout";
      case errc::message_timeout:
        return "a message was not completed within message_timeout";
      case errc::send_timeout:
        return "the peer took no output for send_timeout";
      case errc::too_many_from_address:
        return "max_connections_per_address connections from there are open already";
      case errc::not_placed:
        return "the threading model has no place for the connection";
      case errc::cannot_watch:
        return "the loop's engine watches no descriptors of others: use the server's main loop";
      case errc::no_pidfd:
        return "the system has no pidfd_open (Linux 5.4), or forbids it";
      case errc::incomplete_message:
        return "the peer has finished sending within a message";
      case errc::malformed_message:
        return "not a message of the codec";
      case errc::bad_checksum:
        return "a message is not what its checksum says";
      case errc::connect_timeout:
        return "nobody answered within connecting.timeout";
      case errc::heartbeat_timeout:
        return "nothing was received for heartbeat.evict_after";
      case errc::input_overflow:
        return "more unused input would be kept than max_input_total allows";
      case errc::aborted:
        return "the connection was aborted by the server";
    }
    return "unknown error";
  }
};

}  // namespace

const boost::system::error_category& quintet_category() noexcept {
  static const category instance;
  return instance;
}

error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), quintet_category()}; }

void throw_system_error(int value, const std::string& what) {
  throw boost::system::system_error(system_error_code(value), what);
}

}  // namespace quintet
