// SPDX-License-Identifier: BSL-1.0
// client: conversion of the config to options of the net layer.
#include "client.hpp"

namespace quintet {
namespace {

loop_tuning tuning_of(const client_config& c) {
  loop_tuning t = c.loop;
  t.shared_memory |= c.connecting.upgrade != connection_upgrade::none;
  t.filters |= c.connecting.tls != nullptr;
  return t;
}

}  // namespace

client_options client_options_of(const client_config& c) {
  return {.engine = c.engine,
          .connecting = c.connecting,
          .reconnect = c.reconnect,
          .on_connect_failed = c.on_connect_failed,
          .limits = c.limits,
          .memory = c.memory,
          .log = c.log,
          .loop = tuning_of(c)};
}

model_options model_options_of(const client_config& c) { return {c.model, c.threads, c.engine, tuning_of(c)}; }

}  // namespace quintet
