# SPDX-License-Identifier: BSL-1.0
# strict: warnings that careful projects have as errors.
set(strict_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion -Wformat=2 -Wcast-align -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND strict_warnings -Wuseless-cast -Wduplicated-cond -Wduplicated-branches -Wlogical-op)
endif()
