// SPDX-License-Identifier: BSL-1.0
// conclusions.hpp: everything that the curves of a sweep say.
#pragma once

#include "sweep/axis.hpp"
#include "sweep/crossing.hpp"
#include "sweep/shape.hpp"

namespace quintet::bench {

struct conclusions {
  conclusions(const axis&, std::span<const combination>);

  std::vector<curve> figures;  // of the axis' figure, one for each server
  std::vector<lead> leading;   // these two by requests a second, where there are two servers or more
  std::vector<crossing> crossed;
  std::vector<shape_verdict> shapes;   // where something comparable was published
  std::vector<std::string> sentences;  // all of it
};

}  // namespace quintet::bench
