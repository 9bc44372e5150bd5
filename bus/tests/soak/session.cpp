// SPDX-License-Identifier: BSL-1.0
// session: scripts, links and the reader of replies.
#include "session.hpp"

#include "client.hpp"
#include "service.hpp"
#include "waiting.hpp"

#include <quintet/net/file_descriptor.hpp>
#include <quintet/net/names/address.hpp>
#include <quintet/net/shared_memory_client.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace quintet::test::soak {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// ---- Links ----------------------------------------------------------------------------------------------------------

/// One end of a stream. Nothing blocks but wait(), which returns after at most a millisecond.
class link {
 public:
  link() = default;
  link(const link&) = delete;
  link& operator=(const link&) = delete;
  virtual ~link() = default;
  virtual std::size_t send(bytes data) = 0;
  virtual std::size_t receive(std::span<char> place) = 0;
  virtual void wait(bool writes) = 0;
  virtual void finish_sending() = 0;
  virtual void reset_when_closed() = 0;
  /// Returns how the stream has ended, once nothing more comes.
  [[nodiscard]] ending ended() const { return ended_; }

 protected:
  ending ended_ = ending::none;
};

class socket_link final : public link {
 public:
  explicit socket_link(file_descriptor fd) : fd_(std::move(fd)) {}
  std::size_t send(bytes data) override {
    const ssize_t n = ::send(fd_.get(), data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) broken_ = true;  // receive() tells why
    return n > 0 ? static_cast<std::size_t>(n) : broken_ ? data.size() : 0;
  }
  std::size_t receive(std::span<char> place) override {
    const ssize_t n = ::recv(fd_.get(), place.data(), place.size(), MSG_DONTWAIT);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) ended_ = ending::orderly;
    if (n < 0 && errno != EAGAIN && errno != EINTR) ended_ = ending::reset;
    return 0;
  }
  void wait(bool writes) override {
    pollfd about{.fd = fd_.get(), .events = static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), .revents = 0};
    (void)::poll(&about, 1, 1);
  }
  void finish_sending() override { ::shutdown(fd_.get(), SHUT_WR); }
  void reset_when_closed() override {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

 private:
  file_descriptor fd_;
  bool broken_ = false;
};

class memory_link final : public link {
 public:
  explicit memory_link(const std::string& at) : memory_(at) {}
  std::size_t send(bytes data) override {
    const std::span<char> room = memory_.reserve();
    const std::size_t count = std::min(room.size(), data.size());
    std::copy_n(data.begin(), count, room.begin());
    if (count > 0) memory_.commit(count);
    return count == 0 && memory_.has_ended() ? data.size() : count;
  }
  std::size_t receive(std::span<char> place) override {
    const bytes next = memory_.peek().substr(0, place.size());
    std::copy(next.begin(), next.end(), place.begin());
    if (!next.empty()) memory_.release(next.size());
    if (next.empty() && memory_.has_ended() && memory_.peek().empty())
      ended_ = memory_.end_reason() ? ending::reset : ending::orderly;
    return next.size();
  }
  void wait(bool) override { (void)memory_.wait(200us); }
  void finish_sending() override { memory_.finish_sending(); }
  void reset_when_closed() override { memory_.reset_when_closed(); }

 private:
  shared_memory_client memory_;
};

std::unique_ptr<link> connect_to(const address& to) {
  file_descriptor fd(::socket(to.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), to.data(), to.size()) != 0) return nullptr;
  return std::make_unique<socket_link>(std::move(fd));
}

// A server that is ending refuses clients: run_session() decides by the plan whether that is a failure.
std::unique_ptr<link> connect(const targets& at, dice& random) try {
  switch (random() % 4) {
    case 0:
      return std::make_unique<memory_link>("unix:" + at.unix_path);
    case 1:
      return connect_to(address("unix:" + at.unix_path));
    default:
      return connect_to(address("127.0.0.1:" + std::to_string(at.tcp)));
  }
} catch (const std::exception&) {
  return nullptr;
}

// ---- Replies --------------------------------------------------------------------------------------------------------

/// Checks the stream of replies: those of the script in order, and messages from outside in between.
class reader {
 public:
  explicit reader(const std::vector<request>& script) : script_(script) {}

  /// Returns what is wrong with these bytes, or nothing.
  std::string take(bytes arrived) {
    while (!arrived.empty()) {
      if (left_ > 0) {
        const std::size_t count = std::min<std::size_t>(left_, arrived.size());
        if (arrived.substr(0, count) != bytes(expected_).substr(expected_.size() - left_, count))
          return "a byte of reply " + std::to_string(answered_) + " is wrong";
        left_ -= count;
        arrived.remove_prefix(count);
      } else if (const char next = arrived.front(); arrived.remove_prefix(1), next != '\n') {
        head_ += next;
      } else if (std::string wrong = begin_message(); !wrong.empty()) {
        return wrong;
      }
      if (left_ == 0 && head_.empty() && is_reply_) {
        ++answered_;
        is_reply_ = false;
      }
    }
    return {};
  }
  [[nodiscard]] std::size_t answered() const { return answered_; }
  [[nodiscard]] bool is_within() const { return left_ > 0 || !head_.empty(); }

 private:
  std::string begin_message() {
    const std::string head = std::exchange(head_, {});
    std::uint32_t number = 0;
    std::uint32_t size = 0;
    const std::size_t space = head.find(' ', 2);
    if (head.size() < 5 || space == std::string::npos) return "a damaged head: " + head;
    std::from_chars(head.data() + 2, head.data() + space, number);
    std::from_chars(head.data() + space + 1, head.data() + head.size(), size);
    if (head[0] == 's') {
      if (number <= last_sent_) return "messages from outside are out of order";
      last_sent_ = number;
    } else {
      if (answered_ == script_.size()) return "more replies than requests";
      const request& r = script_[answered_];
      if (head[0] != 'r' || number != r.number || size != r.size)
        return "reply " + std::to_string(answered_) + " is not that of '" + to_line(r, 0).substr(0, 20) + "': " + head;
      is_reply_ = true;
    }
    expected_ = pattern(number, size);
    left_ = size;
    return {};
  }

  const std::vector<request>& script_;
  std::string head_, expected_;
  std::size_t left_ = 0, answered_ = 0;
  std::uint32_t last_sent_ = 0;
  bool is_reply_ = false;
};

// ---- A session ------------------------------------------------------------------------------------------------------

struct script {
  std::vector<request> requests;
  std::string text;
  enum class leaving { reads_all, half_closes, closes_early, resets } leaves = leaving::reads_all;
  bool is_slow = false;  // reads a little at a time
  /// Returns how many replies come, if none is lost. After an ender there is no further reply.
  [[nodiscard]] std::size_t replies() const {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].verb == 'c') return i + 1;
      if (requests[i].verb == 'x') return i;
    }
    return requests.size();
  }
  /// Returns what the client does, for the report of a failure.
  [[nodiscard]] std::string name() const {
    constexpr std::array ways{"reads all", "half-closes", "closes early", "resets"};
    std::string all = ways.at(static_cast<std::size_t>(leaves));
    for (const request& r : requests) all += std::string(" ") + r.verb + std::to_string(r.size);
    return all;
  }
  bool has_ender = false;    // the server closes, or its handler throws
  bool has_thrower = false;  // the replies of the same batch are dropped then
};

script draw_script(const plan& p, dice& random) {
  using enum script::leaving;
  script s;
  const std::size_t count = one_in(random, 4) ? 1 + random() % 400 : 1 + random() % 20;
  for (std::size_t i = 0; i < count; ++i) {
    request r{.verb = verbs[random() % verbs.size()], .number = static_cast<std::uint32_t>(random() % 100'000)};
    const bool ends = r.verb == 'c' || r.verb == 'x';
    if (ends && !one_in(random, 20)) r.verb = 'e';
    r.size = static_cast<std::uint32_t>(one_in(random, 20) ? random() % 300'000 : random() % 300);
    s.has_ender = s.has_ender || r.verb == 'c' || r.verb == 'x';
    s.has_thrower = s.has_thrower || r.verb == 'x';
    s.text += to_line(r, one_in(random, 30) ? random() % 20'000 : random() % 20);
    s.requests.push_back(r);
  }
  s.leaves = one_in(random, 3) ? static_cast<script::leaving>(1 + random() % 3) : reads_all;
  s.is_slow = one_in(random, 4) && p.clients > 1;
  return s;
}

/// Sends and receives until the script is over. Returns what is wrong.
class exchange {
 public:
  exchange(const plan& p, link& l, const script& s, dice& random) : plan_(p), link_(l), script_(s), random_(random) {}

  std::string run() {
    while (!is_over()) {
      bool moved = send();
      std::string wrong;
      moved = receive(wrong) || moved;
      if (!wrong.empty()) return wrong + " (" + script_.name() + ')';
      if (moved)
        progress_ = steady_clock::now();
      else
        link_.wait(!unsent_.empty());
      if (steady_clock::now() - progress_ > patience)
        return "no progress: " + std::to_string(replies_.answered()) + " of " + std::to_string(script_.replies()) +
               " replies, " + std::to_string(unsent_.size()) + " bytes unsent";
    }
    if (script_.leaves == script::leaving::resets) link_.reset_when_closed();
    return judge();
  }

 private:
  using leaving = script::leaving;
  [[nodiscard]] bool leaves_early() const {
    return script_.leaves == leaving::closes_early || script_.leaves == leaving::resets;
  }
  [[nodiscard]] bool is_over() const {
    if (link_.ended() != ending::none) return true;
    if (leaves_early()) return unsent_.size() <= script_.text.size() / 3;
    if (script_.leaves == leaving::half_closes) return false;  // until the server ends it
    return !script_.has_ender && replies_.answered() == script_.replies();
  }
  bool send() {
    if (unsent_.empty()) return false;
    const std::size_t count = link_.send(unsent_.substr(0, 1 + random_() % 30'000));
    unsent_.remove_prefix(count);
    if (unsent_.empty() && script_.leaves == leaving::half_closes) link_.finish_sending();
    return count > 0;
  }
  bool receive(std::string& wrong) {
    std::array<char, 16 * 1024> place;  // not initialised: filled by receive()
    const std::size_t most = script_.is_slow ? 1 + random_() % 700 : place.size();
    const std::size_t count = link_.receive(std::span(place).first(most));
    wrong = replies_.take({place.data(), count});
    return count > 0;
  }
  [[nodiscard]] std::string judge() const {
    const bool all = replies_.answered() == script_.replies();
    if (leaves_early() || plan_.is_lossy() || script_.has_thrower || all) return {};
    // A server that closes or throws while requests still arrive may reset the connection.
    if (link_.ended() == ending::reset && script_.has_ender) return {};
    return std::to_string(replies_.answered()) + " of " + std::to_string(script_.replies()) + " replies, then the " +
           (link_.ended() == ending::reset ? "connection was reset" : "end") + " (" + script_.name() + ')';
  }

  const plan& plan_;
  link& link_;
  const script& script_;
  dice& random_;
  bytes unsent_ = script_.text;
  reader replies_{script_.requests};
  steady_clock::time_point progress_ = steady_clock::now();
};

}  // namespace

std::string run_session(const plan& p, const targets& at, dice& random) {
  const script s = draw_script(p, random);
  const std::unique_ptr<link> l = connect(at, random);
  if (!l) return p.is_lossy() ? std::string() : "cannot connect";
  return exchange(p, *l, s, random).run();
}

}  // namespace quintet::test::soak
