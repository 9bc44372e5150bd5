// SPDX-License-Identifier: BSL-1.0
// scripted_engine: an engine without an outside. It takes as much of each send as a test says, and notes every call.
#pragma once

#include <quintet/net/engine/engine.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace quintet::testing {

/// For one stream. A test calls the channel's functions itself; poll() dispatches nothing.
class scripted_engine final : public engine {
 public:
  /// The script and the record. It outlives the engine.
  struct journal {
    // The script:
    std::deque<send_result> answers = {};       ///< one for each of the next sends; then each takes `otherwise`
    std::size_t otherwise = std::string::npos;  ///< bytes that a send takes at most
    std::size_t unread = 0;                     ///< bytes that have arrived and were not received yet
    bool detaches = true;                       ///< another engine may take over the stream
    error_code add_fails = {};                  ///< the answer to add()
    // The record:
    std::string sent = {};                  ///< the bytes taken
    std::vector<std::size_t> offered = {};  ///< the size of each send
    std::vector<bool> reading = {};         ///< the calls of set_reading()
    std::vector<std::string> calls = {};    ///< add, remove, shutdown_send, reset_when_closed, close
  };
  explicit scripted_engine(journal& j) noexcept
      : engine({.name = "scripted", .can_detach = j.detaches}, network_), network_(j), journal_(j) {}

  /// Whether the stream has asked to receive in place.
  [[nodiscard]] static bool offers_space(const channel& c) noexcept { return kind_of(c) == kind::in_place_stream; }

  bool poll(duration) override { return false; }
  void wake() noexcept override {}
  error_code add(channel& c, int handle) override {
    if (!is_stream(c)) return unsupported();
    journal_.calls.emplace_back("add");
    bind(c, handle);
    return journal_.add_fails;
  }
  void remove(channel& c) noexcept override {
    journal_.calls.emplace_back("remove");
    bind(c, -1);
  }
  void set_reading(channel&, bool on) noexcept override { journal_.reading.push_back(on); }
  using engine::send;
  send_result send(stream_channel&, output_pieces pieces) noexcept override {
    std::string all;
    for (iovec& p : pieces) {
      all.append(static_cast<const char*>(p.iov_base), p.iov_len);
      p = {};  // as an engine may do that sends piece by piece
    }
    journal_.offered.push_back(all.size());
    send_result answer{journal_.otherwise};
    if (!journal_.answers.empty()) {
      answer = journal_.answers.front();
      journal_.answers.pop_front();
    }
    answer.bytes = std::min(answer.bytes, all.size());
    journal_.sent.append(all, 0, answer.bytes);
    return answer;
  }

 private:
  /// Notes what is done with the handle.
  class network final : public socket_services {
   public:
    explicit network(journal& j) noexcept : journal_(j) {}
    int listen(const listen_options&) override { return -1; }
    int accept(int, error_code& failed) noexcept override {
      failed = unsupported();
      return -1;
    }
    int connect(const address&, error_code& failed, const socket_options&) noexcept override {
      failed = unsupported();
      return -1;
    }
    [[nodiscard]] address local_address(int) const override { return {}; }
    [[nodiscard]] address remote_address(int) const override { return {}; }
    [[nodiscard]] std::size_t unread(int) const noexcept override { return journal_.unread; }
    void reset_when_closed(int) noexcept override { journal_.calls.emplace_back("reset_when_closed"); }

   private:
    void shutdown_send(int) noexcept override { journal_.calls.emplace_back("shutdown_send"); }
    void close(int) noexcept override { journal_.calls.emplace_back("close"); }
    journal& journal_;
  };

  static error_code unsupported() noexcept { return make_error_code(boost::system::errc::operation_not_supported); }
  network network_;
  journal& journal_;
};

}  // namespace quintet::testing
