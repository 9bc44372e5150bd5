# SPDX-License-Identifier: BSL-1.0
# QuintetLayer: what the library's layers have in common.

# Before 1.0 a minor release may break what was compiled against the last one; from 1.0 only a major one does.
function(quintet_set_library_properties target)
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(soversion 0.${PROJECT_VERSION_MINOR})
  else()
    set(soversion ${PROJECT_VERSION_MAJOR})
  endif()
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
    INSTALL_RPATH "$ORIGIN"  # installed side by side, wherever that is
    DEFINE_SYMBOL "")  # nothing asks for it, so that a shared library is linked of the same objects as a static one
endfunction()

# quintet_add_layer(<name> LIBS ... [WITHOUT folder...] [TEST_LIBS target...] [PRECOMPILE header...]): library quintet_<name> of the sources in the
# current directory and its folders, but for those named, included as <quintet/<name>/...>, and its tests. A layer without
# a .cpp is an interface library. With QUINTET_PRECOMPILE the headers are read once for the library's sources, and once for
# its tests.
function(quintet_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS;WITHOUT;TEST_LIBS;PRECOMPILE")
  set(target quintet_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  foreach(folder IN ITEMS tests LISTS arg_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  if(sources)
    set(scope PUBLIC)
    add_library(${target} ${sources})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:quintet_warnings>)
    quintet_set_library_properties(${target})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(quintet::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})

  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/quintet)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/include/quintet/${name} SYMBOLIC)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_LIBS} $<BUILD_INTERFACE:quintet_build>)

  if(QUINTET_PRECOMPILE AND sources AND arg_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${arg_PRECOMPILE})
  endif()

  if(QUINTET_TESTS)
    quintet_add_tests_here(LIBS quintet::${name} ${arg_TEST_LIBS} PRECOMPILE ${arg_PRECOMPILE})
  endif()
endfunction()
