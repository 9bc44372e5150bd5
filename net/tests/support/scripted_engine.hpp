// SPDX-License-Identifier: BSL-1.0
// scripted_engine: an engine without a network. It accepts as much of each send as the test says, and records calls.
#pragma once

#include <quintet/net/engine/engine.hpp>
#include <quintet/net/engine/socket_services.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quintet::testing {

/// Holds one stream. The test calls the channel's functions itself; poll() does what the test says.
class scripted_engine final : public engine {
 public:
  /// The script and the record. Must outlive the engine.
  struct journal {
    // The script:
    std::deque<send_result> answers = {};       ///< results of the next sends; later sends accept `otherwise`
    std::size_t otherwise = std::string::npos;  ///< maximum bytes that a send accepts
    std::size_t unread = 0;                     ///< bytes that have arrived and were not received yet
    std::optional<bool> more = {};              ///< result of has_more(); none: counted, as for a socket
    bool detaches = true;                       ///< engine_capabilities::can_detach
    error_code add_fails = {};                  ///< result of add()
    std::function<bool(duration)> polls = {};   ///< does what poll() does; none: nothing
    // The record:
    std::string sent = {};                  ///< the accepted bytes
    std::vector<std::size_t> offered = {};  ///< the size of each send
    std::vector<bool> reading = {};         ///< arguments of set_reading()
    std::vector<std::string> calls = {};    ///< add, remove, shutdown_send, reset_when_closed, close
  };
  explicit scripted_engine(journal& j) noexcept
      : engine({.name = "scripted", .can_detach = j.detaches}, network_), network_(j), journal_(j) {}

  /// Returns whether the stream has asked to receive in place.
  [[nodiscard]] static bool offers_space(const channel& c) noexcept { return kind_of(c) == kind::in_place_stream; }

  bool poll(duration longest) override { return journal_.polls && journal_.polls(longest); }
  void wake() noexcept override {}
  error_code add(channel& c, stream_handle&& handle) override {
    if (!is_stream(c)) return unsupported();
    journal_.calls.emplace_back("add");
    if (journal_.add_fails) return journal_.add_fails;
    bind(c, handle.get());
    carried_ = handle.take_carried();
    return {};
  }
  stream_handle remove(channel& c) noexcept override {
    journal_.calls.emplace_back("remove");
    return {unbind(c), std::move(carried_)};
  }
  error_code set_reading(channel&, bool on) noexcept override {
    journal_.reading.push_back(on);
    return {};
  }
  [[nodiscard]] bool has_more(stream_channel& c, const arrival& by) noexcept override {
    return journal_.more.value_or(engine::has_more(c, by));
  }
  using engine::send;
  send_result send(stream_channel&, output_pieces pieces) noexcept override {
    std::string all;
    for (iovec& p : pieces) {
      all.append(static_cast<const char*>(p.iov_base), p.iov_len);
      p = {};  // an engine that sends piece by piece may do so
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
  /// Records the operations on the handle.
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
    void close(int, bool) noexcept override { journal_.calls.emplace_back("close"); }
    journal& journal_;
  };

  static error_code unsupported() noexcept { return make_error_code(boost::system::errc::operation_not_supported); }
  network network_;
  journal& journal_;
  std::unique_ptr<transport> carried_;
};

}  // namespace quintet::testing
