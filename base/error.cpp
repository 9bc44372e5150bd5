// SPDX-License-Identifier: BSL-1.0
// error: the texts of the library's own error category.
#include "error.hpp"

#include <boost/system/system_error.hpp>

#include <array>
#include <string>
#include <string_view>

namespace quintet {
namespace {

struct text {
  errc value;
  std::string_view says;
};
constexpr auto texts = std::to_array<text>({
    {errc::end_of_stream, "the peer has finished sending"},
    {errc::stopped, "the server was stopped"},
    {errc::handler_threw, "the handler left with an exception"},
    {errc::message_too_big, "a message is longer than allowed, or unused input than max_input"},
    {errc::too_many_threads, "max_threads connections have a thread already"},
    {errc::no_such_connection, "the connection has closed"},
    {errc::output_full, "the peer does not read: more output waits than high_watermark"},
    {errc::output_overflow, "more output would wait than max_output allows"},
    {errc::first_byte_timeout, "nothing was received within first_byte_timeout"},
    {errc::idle_timeout, "nothing happened for idle_timeout"},
    {errc::message_timeout, "a message was not completed within message_timeout"},
    {errc::send_timeout, "the peer took no output for send_timeout"},
    {errc::too_many_from_address, "max_connections_per_address connections from there are open already"},
    {errc::not_placed, "the threading model has no place for the connection"},
    {errc::operation_not_supported, "the loop's engine watches no descriptors of others: use the server's main loop"},
    {errc::no_pidfd, "the system has no pidfd_open (Linux 5.4), or forbids it"},
    {errc::incomplete_message, "the peer has finished sending within a message"},
    {errc::malformed_message, "not a message of the codec"},
    {errc::bad_checksum, "a message is not what its checksum says"},
    {errc::connect_timeout, "nobody answered within connecting.timeout"},
    {errc::heartbeat_timeout, "nothing was received for heartbeat.evict_after"},
    {errc::input_overflow, "more unused input would be kept than max_input_total allows"},
    {errc::aborted, "the connection was aborted by the server"},
});

class category final : public boost::system::error_category {
 public:
  // Compared by this number, not by address: several shared objects of a process may each hold a copy of the library.
  constexpr category() noexcept : error_category(0x7175'696e'7465'7431U) {}

 private:
  const char* name() const noexcept override { return "quintet"; }
  std::string message(int value) const override {
    for (const text& t : texts)
      if (t.value == static_cast<errc>(value)) return std::string(t.says);
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
