// SPDX-License-Identifier: BSL-1.0
// environment.hpp: the machine and the build that the figures belong to.
#pragma once

#include <boost/json/object.hpp>

namespace quintet::bench {

// Made before the measuring, because measuring changes the load average; finish() adds what is known only afterwards.
class environment {
 public:
  environment();
  boost::json::object finish() const;

 private:
  boost::json::object before_;
  double stolen_before_ = 0, all_before_ = 0;
};

}  // namespace quintet::bench
