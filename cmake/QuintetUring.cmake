# SPDX-License-Identifier: BSL-1.0
# QuintetUring: looks for liburing, 2.3 or newer, which the uring engine needs.
include(CheckCXXSourceCompiles)
find_path(QUINTET_LIBURING_INCLUDE_DIR liburing.h)
find_library(QUINTET_LIBURING_LIBRARY NAMES uring)
mark_as_advanced(QUINTET_LIBURING_INCLUDE_DIR QUINTET_LIBURING_LIBRARY)
if(QUINTET_LIBURING_INCLUDE_DIR AND QUINTET_LIBURING_LIBRARY)
  set(CMAKE_REQUIRED_INCLUDES ${QUINTET_LIBURING_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${QUINTET_LIBURING_LIBRARY})
  check_cxx_source_compiles("
    #include <liburing.h>
    int main() {
      io_uring ring{};
      io_uring_buf_reg buffers{};
      io_uring_prep_recv_multishot(io_uring_get_sqe(&ring), 0, nullptr, 0, 0);
      return io_uring_register_buf_ring(&ring, &buffers, 0) + io_uring_submit_and_get_events(&ring) +
             static_cast<int>(IORING_SETUP_DEFER_TASKRUN);
    }" QUINTET_LIBURING_SUFFICES)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(QUINTET_LIBURING_SUFFICES)
  set(found ON)
else()
  set(found OFF)
endif()
option(QUINTET_ENGINE_URING "Build the engine over io_uring (needs liburing 2.3)" ${found})
if(QUINTET_ENGINE_URING AND NOT QUINTET_LIBURING_SUFFICES)
  message(FATAL_ERROR "QUINTET_ENGINE_URING: no liburing 2.3 or newer here (Debian, Ubuntu: liburing-dev).")
endif()
