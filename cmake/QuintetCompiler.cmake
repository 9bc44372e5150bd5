# SPDX-License-Identifier: BSL-1.0
# QuintetCompiler: the supported compilers, and the warnings, sanitizers and allocator.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Quintet needs g++ 12 or newer, and this is g++ ${CMAKE_CXX_COMPILER_VERSION}: "
                      "name a newer one with -DCMAKE_CXX_COMPILER=g++-12.")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "Quintet needs clang 19 or newer, and this is clang ${CMAKE_CXX_COMPILER_VERSION}, of a line that "
                      "miscompiles Asio's coroutines: name a newer one with -DCMAKE_CXX_COMPILER=clang++-19, or take g++.")
elseif(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
  message(WARNING "Quintet is tested with g++ 12 and later and clang 19 and later, not with ${CMAKE_CXX_COMPILER_ID}.")
endif()

# As a part of another project, Quintet sets no compiler launcher.
find_program(QUINTET_CCACHE ccache)
mark_as_advanced(QUINTET_CCACHE)
if(QUINTET_IS_TOP_LEVEL AND QUINTET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${QUINTET_CCACHE})
  if(QUINTET_PRECOMPILE)  # else ccache would not cache objects that use precompiled headers
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${QUINTET_CCACHE})
  endif()
endif()

add_library(quintet_warnings INTERFACE)
target_compile_options(quintet_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)

# Options that all objects of a program must share. Not exported, so an installed Quintet requires none of them.
add_library(quintet_build INTERFACE)
target_compile_definitions(quintet_build INTERFACE BOOST_ASIO_NO_DEPRECATED)

if(QUINTET_LIBC_CALLS)
  target_compile_definitions(quintet_build INTERFACE QUINTET_LIBC_CALLS)
endif()

if(QUINTET_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A precompiled header from ccache is valid although it is older than the sources of a fresh checkout.
  target_compile_options(quintet_build INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

if(QUINTET_SANITIZE)
  if(QUINTET_TCMALLOC)
    message(FATAL_ERROR "QUINTET_TCMALLOC and QUINTET_SANITIZE exclude each other: both replace malloc.")
  endif()
  foreach(sanitizer IN LISTS QUINTET_SANITIZE)
    if(NOT sanitizer MATCHES "^(address|undefined|thread)$")
      message(FATAL_ERROR "QUINTET_SANITIZE=${QUINTET_SANITIZE}: allowed are address;undefined and thread.")
    endif()
  endforeach()
  list(JOIN QUINTET_SANITIZE "," sanitizers)
  target_compile_options(quintet_build INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(quintet_build INTERFACE -fsanitize=${sanitizers})
  if("undefined" IN_LIST QUINTET_SANITIZE)
    # vptr checks an object through a pipe, so it reports false errors while a test has used up all descriptors.
    target_compile_options(quintet_build INTERFACE -fno-sanitize=vptr)
  endif()
  if("thread" IN_LIST QUINTET_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(quintet_build INTERFACE -Wno-tsan)  # Asio's fences guard none of Quintet's data
  endif()
endif()

if(QUINTET_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "QUINTET_FUZZ: libFuzzer comes with clang: -DCMAKE_CXX_COMPILER=clang++-19.")
  endif()
  target_compile_options(quintet_build INTERFACE -fsanitize=fuzzer-no-link)  # each object records the branches taken
endif()

if(QUINTET_COVERAGE)
  target_compile_options(quintet_build INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(quintet_build INTERFACE --coverage)
endif()

if(QUINTET_TCMALLOC)
  find_library(QUINTET_TCMALLOC_LIBRARY NAMES tcmalloc_minimal tcmalloc)
  if(NOT QUINTET_TCMALLOC_LIBRARY)
    message(FATAL_ERROR "QUINTET_TCMALLOC: no libtcmalloc here; install gperftools (Debian: libgoogle-perftools-dev).")
  endif()
  # Linked even if no object uses one of its symbols, because it replaces malloc.
  target_link_options(quintet_build INTERFACE
    "LINKER:--push-state,--no-as-needed" ${QUINTET_TCMALLOC_LIBRARY} "LINKER:--pop-state")
endif()
