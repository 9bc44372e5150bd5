// SPDX-License-Identifier: BSL-1.0
// http_servers.cpp: nginx in a directory of its own, compared with http_hello.
#include "accept/http_servers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "compare/child_process.hpp"
#include "compare/interruption.hpp"
#include "load/connect.hpp"
#include "peers/foreign_program.hpp"

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using arguments = std::vector<std::string>;
using clock = child_process::clock;

// Directory with all files that nginx reads and writes. Its destructor removes it.
class nginx_directory {
 public:
  nginx_directory(const std::string& port, std::size_t object_bytes, unsigned workers)
      : path_(fs::temp_directory_path() / fmt::format("quintet-bench-{}.nginx", ::getpid())) {
    fs::create_directories(path_);
    std::ofstream(path_ / "64") << std::string(object_bytes, 'x');
    std::ofstream(path_ / "nginx.conf") << nginx_configuration(path_.string(), port, workers);
  }
  ~nginx_directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  nginx_directory(const nginx_directory&) = delete;
  nginx_directory& operator=(const nginx_directory&) = delete;

  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

void await_accepting(child_process& server, const std::string& address) {
  const auto target = resolve(parse_endpoint(address));
  const auto deadline = clock::now() + 10s;
  while (!connect_blocking(target, 1000)) {
    if (interruption_guard::happened()) throw interrupted();
    if (server.poll_status() || clock::now() > deadline) throw run_error("nginx " + server.ending());
    std::this_thread::sleep_for(10ms);
  }
}

arguments client_arguments(const placement& where) {
  return {"--http", "--threads", std::to_string(where.client.size())};
}

void measure_nginx(const http_programs& programs, run_result& result, const compare_settings& s, const planned_run& run,
                   const placement& where) {
  const auto port = free_port();
  const auto workers = static_cast<unsigned>(where.server.size());
  const nginx_directory directory(port, run.work->message_bytes, s.loops.value_or(workers));
  child_process server(
      "nginx", pinned(result.server_cpus, {programs.nginx, "-p", directory.file(""), "-c", directory.file("nginx.conf"),
                                           "-e", directory.file("error.log")}));
  const auto address = "127.0.0.1:" + port;
  await_accepting(server, address);
  load_server(result, s, run, where, server, address, client_arguments(where));
}

void measure_hello(const http_programs& programs, run_result& result, const compare_settings& s, const planned_run& run,
                   const placement& where) {
  child_process server(
      "http_hello", pinned(result.server_cpus, {programs.http_hello, "--port", "0", "--linger", "0", "--model",
                                                *result.model, "--engine", *result.engine, "--accept", *result.accept,
                                                "--loops", fmt::format("{:.0f}", *result.loops)}));
  const auto address = server.await_line("http_hello: " + *result.model + ", ", clock::now() + 15s);
  load_server(result, s, run, where, server, address, client_arguments(where));
}

}  // namespace

http_programs http_programs::find(const std::string& http_hello) {
  auto nginx = find_program("nginx");
  // Debian's path, which is not in every user's PATH.
  if (!nginx && ::access("/usr/sbin/nginx", X_OK) == 0) nginx = "/usr/sbin/nginx";
  if (!nginx) throw usage_error("--nginx: nginx is not installed; apt-get install nginx");
  return {*nginx, example_program("http_hello", http_hello)};
}

std::string nginx_configuration(const std::string& directory, const std::string& port, unsigned workers) {
  std::string out = fmt::format(
      "daemon off;\nworker_processes {};\npid {}/pid;\nworker_rlimit_nofile 20000;\n{}"
      "events {{ accept_mutex off; worker_connections 16384; }}\n"
      "http {{\n  access_log off;\n  keepalive_timeout 0;\n  default_type text/plain;\n",
      workers, directory, ::geteuid() == 0 ? "user root;\n" : "");
  for (const auto* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    out += fmt::format("  {}_temp_path {}/{};\n", kind, directory, kind);
  return out + fmt::format("  server {{ listen 127.0.0.1:{} backlog=1024; root {}; }}\n}}\n", port, directory);
}

measure_function measure_http(http_programs programs) {
  return [programs = std::move(programs)](run_result& result, const compare_settings& s, const planned_run& run,
                                          const placement& where) {
    run.who.is_peer() ? measure_nginx(programs, result, s, run, where) : measure_hello(programs, result, s, run, where);
  };
}

}  // namespace quintet::bench
