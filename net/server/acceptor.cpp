// SPDX-License-Identifier: BSL-1.0
// acceptor: admits accepted connections one at a time, as the limits allow.
#include "acceptor.hpp"

#include "../engine/kernel_sockets.hpp"
#include "../engine/shm/offer.hpp"
#include "../engine/socket_services.hpp"
#include "../loop/placing.hpp"
#include "../secure/securing_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

namespace quintet {

namespace {

std::vector<address_prefix> networks_of(const proxy_options& o) {
  std::vector<address_prefix> networks;
  for (const std::string& text : o.trusted) networks.emplace_back(text);
  return networks;
}

}  // namespace

/// A connection of a proxy whose client is not known yet. It has a place among the open ones, so these are bounded.
class acceptor::proxied_connection final : public proxy_reader {
 public:
  proxied_connection(acceptor& owner, pending_connection&& a, connection_permit permit)
      : proxy_reader(owner.loop_, a.listener->proxy),
        owner_(owner),
        connection_(std::move(a)),
        permit_(std::move(permit)) {}

 private:
  void finished(error_code failed, const proxy_header& header) noexcept override;

  acceptor& owner_;
  pending_connection connection_;
  connection_permit permit_;
};

/// A connection whose handshake is in progress. It has a place among the open ones as well.
class acceptor::secured_connection final : public securing_stream {
 public:
  secured_connection(acceptor& owner, pending_connection&& a, connection_permit permit)
      : securing_stream(*a.listener->secured), owner_(owner), connection_(std::move(a)), permit_(std::move(permit)) {}

 private:
  void finished(error_code failed, std::unique_ptr<transport> carried, bytes last_words) noexcept override;

  acceptor& owner_;
  pending_connection connection_;
  connection_permit permit_;
};

acceptor::acceptor(event_loop& loop, const accept_limits& limits, const memory_limits& memory,
                   connection_limiter& limiter, const log_hook& log, admit_function admit, model_interface* model)
    : loop_(loop),
      limits_(limits),
      memory_(memory),
      limiter_(limiter),
      log_(log),
      admit_(std::move(admit)),
      model_(model) {
  limiter_.attach(loop_, [this] { place_waiting(); });
}

acceptor::~acceptor() {
  limiter_.detach(loop_);
  abort();
}

listener& acceptor::listen(const listen_options& options, bool shared) {
  std::shared_ptr<shm::segment_offerer> offerer;
  if (options.upgrade == connection_upgrade::offer)
    offerer = std::make_shared<shm::segment_offerer>(options.shared_memory, limits_.max_connections);
  securing_queue* secured = nullptr;
  if (options.tls)
    secured =
        secured_.emplace_back(std::make_unique<securing_queue>(loop_, options.tls, options.handshakes, model_)).get();
  const auto from = std::make_shared<const origin>(
      origin{options.socket.has_buffers(), std::move(offerer), options.may_connect, options.carry, options.proxy,
             networks_of(options.proxy), secured, options.tls_begins == tls_beginning::if_detected});
  const bool limited = (limits_.max_connections > 0 && holds_when_full()) || limits_.accept_rate > 0;
  const auto take = [this, from, nth = listeners_.size()](int handle) {
    stream_handle stream(handle);
    stream.facts().is_ip = listeners_[nth]->at().is_ip();
    accepted({std::move(stream), from});
  };
  return *listeners_.emplace_back(std::make_unique<listener>(
      loop_, options, take, log_, listener::properties{.shared = shared, .limited = limited}));
}

void acceptor::start() {
  for (const auto& l : listeners_) l->start();
  loop_.join(*this);
  started_ = true;
}

void acceptor::close() noexcept {
  for (const auto& l : listeners_) l->accept_waiting_and_close();
  while (!headers_.empty()) headers_.front().read_and_stop();
  for (const auto& s : secured_) s->finish_or_stop();
  drop_waiting();
}

// The loop calls this on its own thread: with own_descriptors, handles are valid only there.
void acceptor::abort() noexcept {
  drop_waiting();
  if (std::exchange(started_, false)) loop_.leave(*this);
}

void acceptor::drop_waiting() noexcept {
  for (pending_connection& a : waiting_) loop_.io().close(std::move(a.stream));
  waiting_.clear();
  while (!headers_.empty()) headers_.front().stop();
  for (const auto& s : secured_) s->stop();
  while (!refused_ones_.empty()) refused_ones_.front().stop();
}

// If this throws, the listener still owns the handle.
void acceptor::accepted(pending_connection a) {
  count_locality(a.stream.get());
  waiting_.push_back(std::move(a));
  place_waiting();
}

bool acceptor::must_wait() noexcept {
  return (holds_when_full() && limiter_.is_full()) || limiter_.time_until_rate_token(loop_.now()) > duration::zero();
}

// Asked of a connection that got no place: it may also be a token of accept_rate that another loop has taken.
bool acceptor::is_refused_when_full() noexcept {
  return limits_.refuse_when_full && limits_.max_connections > 0 && limiter_.open() >= limits_.max_connections;
}

// A system call, unless a proxy has told it.
address acceptor::peer_of(const pending_connection& a) const { return detail::peer_of(loop_, a.stream); }

// Returns false if the connection must wait, because another loop took the last place or token after must_wait().
bool acceptor::try_place(pending_connection& a) noexcept {
  const int handle = a.stream.get();
  const bool is_proxied = !a.listener->proxies.empty();
  try {
    const bool is_counted = limits_.max_connections_per_address > 0 && !is_proxied;
    std::optional<connection_permit> permit = limiter_.try_acquire(is_counted ? peer_of(a) : address(), loop_.now());
    if (!permit && !is_refused_when_full()) return false;
    if (!permit) return refuse(a, errc::too_many_connections), true;
    if (a.listener->may_connect && !kernel_sockets::is_peer(handle, a.listener->may_connect))
      throw_system_error(EACCES, "the peer may not connect");
    is_proxied ? await_header(a, std::move(*permit)) : place(a, std::move(*permit));
  } catch (...) {
    refuse(a, detail::reason_of_exception());
  }
  return true;
}

void acceptor::place(pending_connection& a, connection_permit permit) {
  if (!permit) return refuse(a, errc::too_many_from_address);
  if (!a.listener->has_buffers && limiter_.open() > memory_.tuned_sockets)
    loop_.io().sockets().limit_buffers(a.stream.get(), memory_.bounded_buffers());
  if (a.listener->secured) return secure(a, std::move(permit));
  admit(a, std::move(permit));
}

void acceptor::admit(pending_connection& a, connection_permit permit) {
  if (a.listener->offerer) a.listener->offerer->offer_to(a.stream);
  if (a.listener->carry) a.stream.set_carried(a.listener->carry(a.stream.take_carried()));
  admit_(loop_, std::move(a.stream), std::move(permit));
}

bool acceptor::origin::trusts(const address& from) const noexcept {
  return std::ranges::any_of(proxies, [&from](const address_prefix& p) { return p.contains(from); });
}

void acceptor::await_header(pending_connection& a, connection_permit permit) {
  if (!a.listener->trusts(peer_of(a))) return refuse(a, errc::untrusted_proxy);
  const int handle = a.stream.get();
  auto* const reader = new proxied_connection(*this, std::move(a), std::move(permit));  // deletes itself
  headers_.push_back(*reader);
  reader->start(handle);
}

void acceptor::proxied_connection::finished(error_code failed, const proxy_header& header) noexcept {
  stream_handle& stream = connection_.stream;
  if (failed == errc::stopped) return owner_.loop_.io().close(std::move(stream));
  if (failed) return owner_.refuse(connection_, failed);
  try {
    if (!header.peer.ip().empty())
      stream.facts().told = std::make_shared<const connection_ends>(
          connection_ends{address(header.peer.ip(), header.peer.port), address(header.local.ip(), header.local.port)});
    owner_.place(connection_, owner_.limiter_.add_network(std::move(permit_), owner_.peer_of(connection_)));
  } catch (...) {
    owner_.refuse(connection_, detail::reason_of_exception());
  }
}

void acceptor::secure(pending_connection& a, connection_permit permit) {
  const int handle = a.stream.get();
  const bool may_be_plain = a.listener->may_be_plain;
  auto* const stream = new secured_connection(*this, std::move(a), std::move(permit));  // deletes itself
  stream->start(handle, may_be_plain);
}

void acceptor::secured_connection::finished(error_code failed, std::unique_ptr<transport> carried,
                                            bytes last_words) noexcept {
  if (is_failure(failed))
    owner_.limiter_.refused_lines().report(owner_.log_, {severity::warning, "a TLS handshake has failed", failed},
                                           owner_.loop_.now(),
                                           [this] { return owner_.peer_of(connection_).to_string(); });
  if (failed) return owner_.close_with(last_words, connection_);
  connection_.stream.set_carried(std::move(carried));
  try {
    owner_.admit(connection_, std::move(permit_));
  } catch (...) {
    owner_.refuse(connection_, detail::reason_of_exception());
  }
}

void acceptor::add_to(handshake_statistics& sum) const noexcept {
  for (const auto& s : secured_) sum.add(s->counters());
}

void acceptor::count_locality(int handle) noexcept {
  if (const int cpu = loop_.options().cpu; cpu >= 0 && loop_.io().sockets().receiving_cpu(handle) == cpu) local_.add();
}

void acceptor::refuse(pending_connection& a, error_code reason) noexcept {
  refused_.add();
  limiter_.refused_lines().report(log_, {severity::warning, "a connection is refused", reason}, loop_.now(),
                                  [this, &a] { return peer_of(a).to_string(); });
  std::string words;
  try {
    if (limits_.on_refused) words = limits_.on_refused(reason, peer_of(a));
  } catch (...) {  // the connection is closed even if the hook throws
  }
  // A stream that is carried by something, or will be, has no plain words.
  const bool is_plain = !a.stream.carried() && !a.listener->carry && !a.listener->offerer && !a.listener->secured;
  close_with(is_plain ? std::string_view(words) : std::string_view(), a);
}

void acceptor::close_with(std::string_view words, pending_connection& a) noexcept {
  auto* const refused = words.empty() || refused_ones_.size() >= refused_connection::most_at_once
                            ? nullptr
                            : new (std::nothrow) refused_connection(loop_);  // deletes itself
  if (!refused) return loop_.io().close(std::move(a.stream));
  refused_ones_.push_back(*refused);
  refused->say(std::move(a.stream), words);
}

// Admits waiting connections, and stops or resumes accepting.
void acceptor::place_waiting() noexcept {
  std::size_t done = 0;
  while (done < waiting_.size() && !must_wait())  // repeats after try_place() has returned false
    if (try_place(waiting_[done])) ++done;
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
  const bool full = holds_when_full() && limiter_.is_full();
  const duration too_fast_for = limiter_.time_until_rate_token(loop_.now());
  if (too_fast_for > duration::zero()) loop_.start(*this, too_fast_for);
  for (const auto& l : listeners_) l->hold(full || too_fast_for > duration::zero() || !waiting_.empty());
}

std::uint64_t acceptor::accepted() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& l : listeners_) sum += l->accepted();
  return sum;
}

std::uint64_t acceptor::errors() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& l : listeners_) sum += l->errors();
  return sum;
}

}  // namespace quintet
