// SPDX-License-Identifier: BSL-1.0
// handoff: from a loop to a pool and back, n items a turn: worker_pool, asio::thread_pool, a queue with a mutex.
// Usage: quintet-handoff [option of Google Benchmark]... On one CPU: taskset -c 0 quintet-handoff
#include <quintet/net/event_loop.hpp>
#include <quintet/net/loop/post_batch.hpp>
#include <quintet/threadmodels/compute/worker_pool.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <benchmark/benchmark.h>

#include <poll.h>
#include <sys/resource.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace quintet;

constexpr unsigned workers = 4;

/// Like a connection's baton: handed off, run with an empty handler, and returned.
struct baton : work_item {
  baton(bool cheap, event_loop& l, unsigned& h) : work_item(&baton::handle), loop(l), home(h) {
    set_facts({.is_measured = cheap});
    note_cost(std::chrono::microseconds(1));
  }
  static void handle(work_item& item) noexcept {
    auto& self = static_cast<baton&>(item);
    self.become(&baton::arrive);
    post_batch::post(self.loop, self);
  }
  static void arrive(work_item& item) noexcept {
    auto& self = static_cast<baton&>(item);
    self.become(&baton::handle);
    ++self.home;
  }
  event_loop& loop;
  unsigned& home;
};

class own_pool {
 public:
  static constexpr bool cheap = true;
  void submit(work_item& item) { pool_.submit(item); }

 private:
  worker_pool pool_{{workers, workers}};
};

/// The pool with items of unknown cost.
class own_pool_at_once : public own_pool {
 public:
  static constexpr bool cheap = false;
};

class asio_pool {
 public:
  static constexpr bool cheap = false;
  ~asio_pool() { pool_.join(); }
  void submit(work_item& item) {
    boost::asio::post(pool_, [&item] { item(); });
  }

 private:
  boost::asio::thread_pool pool_{workers};
};

/// The pool that most programs have.
class mutex_pool {
 public:
  static constexpr bool cheap = false;
  mutex_pool() {
    for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~mutex_pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  void submit(work_item& item) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(&item);
    }
    ready_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work_item* const item = queue_.front();
      queue_.pop_front();
      lock.unlock();
      (*item)();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<work_item*> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

/// Returns the context switches of this process.
double switches() {
  rusage all{};
  ::getrusage(RUSAGE_SELF, &all);
  return static_cast<double>(all.ru_nvcsw + all.ru_nivcsw);
}

/// Runs one turn of the loop that submits all items, then turns until all are returned. In between the thread sleeps.
void round_trip(event_loop& loop, const std::function<void()>& submit_all, const std::function<bool()>& all_home) {
  loop.post([&] { submit_all(); });
  while (!all_home()) {
    if (loop.poll()) continue;
    const auto wait = loop.wait_outside();
    pollfd readable{.fd = wait.descriptor, .events = POLLIN, .revents = 0};
    ::poll(&readable, 1, wait.milliseconds());
  }
}

template <class Pool>
void there_and_back(benchmark::State& state) {
  const auto items = static_cast<unsigned>(state.range(0));
  event_loop loop;
  unsigned home = 0;
  std::deque<baton> batons;
  for (unsigned i = 0; i < items; ++i) batons.emplace_back(Pool::cheap, loop, home);
  Pool pool;
  const auto submit_all = [&] {
    for (baton& b : batons) pool.submit(b);
  };
  const auto all_home = [&] { return home == items; };
  const double before = switches();
  for (auto _ : state) {
    round_trip(loop, submit_all, all_home);
    home = 0;
  }
  state.SetItemsProcessed(state.iterations() * items);
  state.counters["switches/item"] =
      benchmark::Counter((switches() - before) / items, benchmark::Counter::kAvgIterations);
}

void loads(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(10)->Arg(100)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(there_and_back<own_pool>)->Name("worker_pool, cheap items")->Apply(loads);
BENCHMARK(there_and_back<own_pool_at_once>)->Name("worker_pool, other items")->Apply(loads);
BENCHMARK(there_and_back<asio_pool>)->Name("asio::thread_pool")->Apply(loads);
BENCHMARK(there_and_back<mutex_pool>)->Name("mutex and condition")->Apply(loads);

}  // namespace

BENCHMARK_MAIN();
