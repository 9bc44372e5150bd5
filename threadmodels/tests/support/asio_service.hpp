// SPDX-License-Identifier: BSL-1.0
// asio_service: the protocol of the conformance suite on a stream of Asio, as a coroutine of Asio.
#pragma once

#include "service.hpp"

#include <quintet/net/asio_stream.hpp>

#include <boost/asio/awaitable.hpp>

namespace quintet::test {

class asio_service {
 public:
  explicit asio_service(service_context& c) noexcept : context_(&c) {}
  boost::asio::awaitable<void> operator()(asio_stream s) const;

 private:
  service_context* context_;
};

}  // namespace quintet::test
