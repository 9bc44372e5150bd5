// SPDX-License-Identifier: BSL-1.0
// protobuf: a calculator whose requests and replies are Protocol Buffers, each after its length as a varint. Clients in
// other languages use their library's functions for delimited messages, such as parseDelimitedFrom in Java.
#include "common/options.hpp"

#include <quintet/net/framed.hpp>

#include <calculator.pb.h>

#include <cstddef>
#include <string>

namespace {

constexpr std::size_t longest_message = 1024;
constexpr quintet::varint_prefix wire(longest_message);

calculator::Reply calculate(const calculator::Request& request) {
  calculator::Reply reply;
  reply.set_id(request.id());
  switch (request.operation()) {
    case calculator::OPERATION_ADD:
      reply.set_value(request.left() + request.right());
      break;
    case calculator::OPERATION_SUBTRACT:
      reply.set_value(request.left() - request.right());
      break;
    case calculator::OPERATION_MULTIPLY:
      reply.set_value(request.left() * request.right());
      break;
    case calculator::OPERATION_DIVIDE:
      if (request.right() == 0)
        reply.set_error("division by zero");
      else
        reply.set_value(request.left() / request.right());
      break;
    default:  // proto3 keeps numbers that this program does not know
      reply.set_error("operation is " + std::to_string(static_cast<int>(request.operation())) + "; it must be 1 to 4");
  }
  return reply;
}

struct service {
  void operator()(quintet::connection& c, quintet::bytes message) const {
    calculator::Request request;
    if (request.ParseFromArray(message.data(), static_cast<int>(message.size()))) return send(c, calculate(request));
    calculator::Reply refusal;
    refusal.set_error("the message is not a calculator.Request");
    send(c, refusal);
    c.close(quintet::errc::malformed_message);  // after the reply has left
  }

 private:
  static void send(quintet::connection& c, const calculator::Reply& reply) {
    if (const auto failed = quintet::write_message(c, wire, reply.SerializeAsString())) c.close(failed);
  }
};

}  // namespace

int main(int argc, char** argv) {
  auto config = quintet::config::public_defaults({"127.0.0.1:7046"});
  example::command_line("protobuf", "Calculates: its requests and replies are Protocol Buffers after their length.")
      .server(config)
      .try_it(
          "  protobuf &\n  cd examples/protobuf\n"
          "  (printf '\\024'; echo 'operation: OPERATION_ADD left: 2 right: 3' |\n"
          "    protoc --encode=calculator.Request calculator.proto) | nc -N 127.0.0.1 7046 | tail -c +2 |\n"
          "    protoc --decode=calculator.Reply calculator.proto    # value: 5")
      .parse(argc, argv);
  try {
    quintet::server server(config, quintet::framed(wire, service()));
    example::serve("protobuf", config, server);
  } catch (...) {
    return example::report_exception("protobuf");
  }
}
