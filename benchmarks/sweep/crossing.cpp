// SPDX-License-Identifier: BSL-1.0
// crossing.cpp: finds where curves cross, between measured points.
#include "sweep/crossing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace quintet::bench {
namespace {

// Returns how much a figure usually differs between equal rounds. Among the many pairs of points in a sweep, chance
// separates some in all their rounds, but not by more than this.
double usual_spread(std::span<const curve> all) {
  std::vector<double> spreads;
  for (const auto& c : all) {
    for (const auto& p : c.points) spreads.push_back(p.figure.spread());
  }
  const auto usual = summarise_samples(spreads);
  return usual ? usual->median : 0;
}

bool apart(const curve_point& a, const curve_point& b, double noise) {
  const double x = a.figure.median, y = b.figure.median;
  return !overlap(a.figure, b.figure) && std::abs(x - y) > noise * std::min(x, y);
}

// Two curves at a value that both have.
struct meeting {
  double value;
  double gap;  // how much less time per request the first needs
  bool apart;  // the rounds distinguish the two
};

std::vector<meeting> meetings(const curve& a, const curve& b, double noise) {
  std::vector<meeting> out;
  for (const auto& p : a.points) {
    if (const auto* other = b.at(p.value))
      out.push_back({p.value, 1 / other->figure.median - 1 / p.figure.median, apart(p, *other, noise)});
  }
  return out;
}

double zero_between(const meeting& a, const meeting& b) {
  return a.value + (b.value - a.value) * a.gap / (a.gap - b.gap);
}

bool same_side(double a, double b) { return (a > 0) == (b > 0); }

// Returns the place where the gap changes its sign between `first` and `last`. If it changes more than once, the curves
// are indistinguishable there, and the middle is returned.
double place_of_change(std::span<const meeting> all, std::size_t first, std::size_t last) {
  double low = 0, high = 0;
  bool found = false;
  for (auto i = first; i < last; ++i) {
    if (same_side(all[i].gap, all[i + 1].gap)) continue;
    high = zero_between(all[i], all[i + 1]);
    if (!found) low = high;
    found = true;
  }
  return (low + high) / 2;
}

void add_crossings(std::vector<crossing>& to, const curve& a, const curve& b, double noise) {
  const auto all = meetings(a, b, noise);
  std::optional<std::size_t> last_apart;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].apart) continue;
    if (last_apart && !same_side(all[*last_apart].gap, all[i].gap)) {
      const bool first_falls_behind = all[i].gap < 0;
      to.push_back({first_falls_behind ? a.label : b.label, first_falls_behind ? b.label : a.label,
                    place_of_change(all, *last_apart, i), all[*last_apart].value, all[i].value});
    }
    last_apart = i;
  }
}

// Walks along the axis. The lead changes where a curve is clearly ahead of the leader.
class lead_keeper {
 public:
  explicit lead_keeper(std::span<const curve> all) : all_(all), noise_(usual_spread(all)) {}

  void visit(double value) {
    const auto* now = leader_ ? leader_->at(value) : nullptr;
    if (leader_ && !now) return;  // a failed run does not end a lead
    const auto* next = best_ahead_of(now, value);
    if (!next) return;
    end(value);
    out_.push_back({leader_ ? overtaken_at(*next, value) : value, next->label, {}});
    leader_ = next;
    since_ = value;
  }

  // Ends the leader's stretch at `value`.
  void end(double value) {
    if (leader_) out_.back().as_good = as_good_until(value);
  }

  std::vector<lead> take() { return std::move(out_); }

 private:
  const curve* best_ahead_of(const curve_point* now, double value) const {
    const curve* best = nullptr;
    for (const auto& c : all_) {
      const auto* p = c.at(value);
      if (!p || (now && (p->figure.median <= now->figure.median || !apart(*p, *now, noise_)))) continue;
      if (!best || p->figure.median > best->at(value)->figure.median) best = &c;
    }
    return best;
  }

  // Returns the crossing between the last value at which the leader's median was ahead, and this one.
  double overtaken_at(const curve& next, double value) const {
    const auto all = meetings(*leader_, next, noise_);
    double at = value;
    for (std::size_t i = 0; i + 1 < all.size() && all[i].value < value; ++i) {
      if (all[i].value >= since_ && all[i].gap > 0 && all[i + 1].gap <= 0) at = zero_between(all[i], all[i + 1]);
    }
    return at;
  }

  std::vector<std::string> as_good_until(double end) const {
    std::vector<std::string> out;
    for (const auto& c : all_) {
      if (&c == leader_) continue;
      bool level = false;
      for (const auto& m : meetings(*leader_, c, noise_)) {
        if (m.value < since_ || m.value >= end) continue;
        level = !m.apart;
        if (!level) break;
      }
      if (level) out.push_back(c.label);
    }
    return out;
  }

  std::span<const curve> all_;
  double noise_;
  std::vector<lead> out_;
  const curve* leader_ = nullptr;
  double since_ = 0;  // the measured value at which it took the lead
};

}  // namespace

std::vector<crossing> crossings(std::span<const curve> all) {
  const double noise = usual_spread(all);
  std::vector<crossing> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) add_crossings(out, all[i], all[j], noise);
  }
  std::stable_sort(out.begin(), out.end(), [](const crossing& a, const crossing& b) { return a.at < b.at; });
  return out;
}

std::vector<lead> leads(std::span<const curve> all) {
  std::set<double> values;
  for (const auto& c : all) {
    for (const auto& p : c.points) values.insert(p.value);
  }
  lead_keeper keeper(all);
  for (const double value : values) keeper.visit(value);
  if (!values.empty()) keeper.end(*values.rbegin() + 1);
  return keeper.take();
}

}  // namespace quintet::bench
