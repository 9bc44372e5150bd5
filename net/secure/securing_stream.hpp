// SPDX-License-Identifier: BSL-1.0
// securing_stream: the handshake of one connection, on a loop: before there is a session, or in mid-stream.
#pragma once

#include "../../base/work/work_item.hpp"
#include "../engine/filter/carried_filter.hpp"
#include "../engine/filter/handshake.hpp"
#include "../loop/event_loop.hpp"
#include "step_aside.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace quintet {

class securing_queue;

// Of the list of all streams of a queue, and of those that can take a step.
struct securing_list_tag;
struct securing_turn_tag;
using securing_list_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<securing_list_tag>,
                                                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
using securing_turn_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<securing_turn_tag>,
                                                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// Made by new; deletes itself once it has called finished(), at the end of the loop's turn. Reads and sends by itself,
/// so that no engine holds bytes of the stream, and any loop's engine can serve it afterwards. A stream that an engine
/// serves already overrides the three functions that do so, and tells what arrives.
class securing_stream : public event_channel,
                        public timer,
                        public work_item,
                        public securing_list_hook,
                        public securing_turn_hook,
                        private step_aside::receiver {
 public:
  /// [loop] Begins to read the socket; the time limit begins.
  /// `may_be_plain`: a stream that does not begin as the source demands within the time limit is done, without a
  /// filter.
  void start(int socket, bool may_be_plain = false) noexcept;
  /// [loop] For a stream that an engine serves: bytes have arrived, or the end.
  void received(bytes arrived) noexcept;
  void received_end(error_code how) noexcept;

 protected:
  explicit securing_stream(securing_queue& queue) noexcept;
  virtual ~securing_stream() = default;
  /// [loop] Ends the handshake; calls finished() with errc::stopped.
  void stop() noexcept;
  /// [loop] The only call. Without an error, `carried` is for the engine; null: the stream is plain. `last_words`:
  /// after a failure of the handshake, an alert that says why. `failed`: errc::stopped, end_of_stream or the system's
  /// error if the peer is gone, a reason of the handshake.
  virtual void finished(error_code failed, std::unique_ptr<transport> carried, bytes last_words) noexcept = 0;

 private:
  friend securing_queue;
  /// [loop] Returns the name of the server, where this side is its client.
  [[nodiscard]] virtual std::string_view server_name() const noexcept { return {}; }
  [[nodiscard]] virtual error_code begin_to_read() noexcept;
  virtual void stop_reading() noexcept;
  /// Returns how many bytes were taken, or a negative errno.
  [[nodiscard]] virtual std::ptrdiff_t send_some(bytes records) noexcept;
  void on_event() override { receive(); }
  void expired() noexcept override;
  void receive() noexcept;
  [[nodiscard]] bool is_detected() noexcept;
  [[nodiscard]] error_code wait_for(int size) noexcept;
  void stay_plain() noexcept;
  [[nodiscard]] std::size_t most_waiting() const noexcept;
  bool receive_some();
  void look_at_input() noexcept;
  void await_turn() noexcept;
  /// Returns whether a thread has the step now.
  bool take_step() noexcept;
  void finish_step_here() noexcept;
  [[nodiscard]] error_code begin();
  void step_here();
  void send_aside();
  bool take_over(step_aside::work& w);
  void returned(step_aside::work&& w) noexcept override;
  void stepped(const handshake::result& r, bool has_more);
  [[nodiscard]] bool send() noexcept;
  void peer_ended(error_code how) noexcept;
  void start_timer() noexcept;
  [[nodiscard]] error_code set_reading(bool on) noexcept;
  void hand_over();
  void leave() noexcept;
  void finish(error_code failed, std::unique_ptr<transport> carried = nullptr) noexcept;
  void out_of_memory() noexcept { finish(make_error_code(boost::system::errc::not_enough_memory)); }
  [[nodiscard]] bool has_begun() const noexcept { return handshake_ || aside_; }
  [[nodiscard]] bool is_waiting() const noexcept { return securing_turn_hook::is_linked() || aside_; }

  securing_queue& queue_;
  std::unique_ptr<handshake> handshake_;  // null before the first record is whole, and while a step is aside
  step_aside* aside_ = nullptr;           // has the handshake meanwhile
  std::string incoming_, outgoing_;       // records that wait
  time_point deadline_{};
  int socket_ = -1;
  bool is_reading_ = false;
  bool is_undecided_ = false;    // whether the stream is plain
  bool waits_for_more_ = false;  // the socket is no event before `to_detect` bytes
  bool has_ended_ = false;       // the peer, behind incoming_
  bool has_finished_ = false;
};

}  // namespace quintet
