// SPDX-License-Identifier: BSL-1.0
// environment.hpp: describes the machine and the build of a measurement.
#pragma once

#include <boost/json/object.hpp>

namespace quintet::bench {

// Construct it before measuring, because measuring changes the
// load average. finish() adds the values known only afterwards.
class environment {
 public:
  environment();
  boost::json::object finish() const;

 private:
  boost::json::object before_;
  double stolen_before_ = 0, all_before_ = 0;
};

}  // namespace quintet::bench
