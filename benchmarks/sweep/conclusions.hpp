// SPDX-License-Identifier: BSL-1.0
// conclusions.hpp: everything that follows from the curves of a sweep.
#pragma once

#include "sweep/axis.hpp"
#include "sweep/crossing.hpp"
#include "sweep/shape.hpp"

namespace quintet::bench {

struct conclusions {
  conclusions(const axis&, std::span<const combination>);

  std::vector<curve> figures;  // of the axis' figure, one for each server
  std::vector<lead> leading;   // this and `crossed` are by requests a second, if there are two servers or more
  std::vector<crossing> crossed;
  std::vector<shape_verdict> shapes;   // if something comparable was published
  std::vector<std::string> sentences;  // sentences for all of it
};

}  // namespace quintet::bench
