// SPDX-License-Identifier: BSL-1.0
// copy: a server and a client in a shared object. COPY_ENTRY is its exported function, COPY_NAME is the copy's name.
#include "copy.hpp"

#include <quintet/net/stream.hpp>
#include <quintet/threadmodels/client.hpp>
#include <quintet/threadmodels/server.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

namespace {

using namespace quintet;

constexpr std::chrono::seconds deadline{60};
constexpr int questions = 50;

/// A coroutine that offloads, so that frames, batons and buffers move between the threads of this copy.
awaitable<> answer(stream& s) {
  std::string rest;
  while (const auto in = co_await s.read()) {
    rest += *in;
    for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.erase(0, end + 1)) {
      std::string line;
      co_await s.offload([&] { line = COPY_NAME " " + rest.substr(0, end + 1); });
      s.write(event_loop::current() == &s.loop() ? line : "on another loop\n");
    }
  }
}
using server_type = server;
server_type& of(void* p) { return *static_cast<server_type*>(p); }

config configured(const char* kind) {
  return {.listen = {"127.0.0.1:0"}, .model = *from_string(kind), .threads = {.loops = 2, .workers = {1, 2}}};
}

void run(void* server, int signal) {
  std::optional<drain_on_signals> drainer;
  if (signal != 0) drainer.emplace(of(server), deadline, std::initializer_list<int>{signal});
  of(server).run();
}

/// Sends a question after each answer, and counts the right answers.
struct asking {
  std::string begin;
  std::atomic<int>* right;
  std::function<void()> done;
  int left = questions;
  std::string got = {};

  void on_open(connection& c) const { c.write("question\n"); }
  void operator()(connection& c, bytes in) {
    got += in;
    if (!got.ends_with('\n')) return;
    *right += got == begin + " question\n";
    got.clear();
    if (--left == 0) return c.close();
    c.write("question\n");
  }
  void on_close(connection&, error_code) const { done(); }
};

bool call(const char* kind, std::uint16_t port, const char* begin) {
  std::atomic<int> right{0};
  client* self = nullptr;
  client here({.model = *from_string(kind), .threads = {.loops = 2, .workers = {1, 2}}},
              asking{begin, &right, [&self] { self->stop(); }});
  self = &here;
  here.connect("127.0.0.1:" + std::to_string(port));
  here.run();
  return right == questions;
}

bool within(void (*f)(void*), void* with) {
  event_loop loop;
  bool here = false;
  loop.post([&] {
    here = loop.in_this_thread();
    f(with);
    here = here && loop.in_this_thread();
  });
  loop.poll();
  return here && event_loop::current() != &loop;
}

const test::copy table{
    .name = COPY_NAME,
    .make = [](const char* kind) -> void* { return new server_type(configured(kind), &answer); },
    .run = &run,
    .port = [](void* p) { return of(p).port(); },
    .drain = [](void* p) { of(p).drain(deadline); },
    .destroy = [](void* p) { delete static_cast<server_type*>(p); },
    .call = &call,
    .within = &within,
    .error = [](int value) -> boost::system::error_code { return static_cast<errc>(value); },
    .category = []() -> const void* { return &quintet_category(); },
};

}  // namespace

extern "C" const quintet::test::copy* COPY_ENTRY() { return &table; }
