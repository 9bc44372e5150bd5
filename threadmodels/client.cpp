// SPDX-License-Identifier: BSL-1.0
// client: conversion of the config to options of the net layer.
#include "client.hpp"

namespace quintet {

client_options client_options_of(const client_config& c) {
  return {.engine = c.engine,
          .connecting = c.connecting,
          .reconnect = c.reconnect,
          .on_connect_failed = c.on_connect_failed,
          .limits = c.limits,
          .memory = c.memory,
          .log = c.log,
          .loop = c.loop};
}

}  // namespace quintet
