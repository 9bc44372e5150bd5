# SPDX-License-Identifier: BSL-1.0
# QuintetLayer: the functions that define a layer of the library.

# Before 1.0 a minor release may change the ABI; from 1.0 only a major release may.
function(quintet_set_library_properties target)
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(soversion 0.${PROJECT_VERSION_MINOR})
  else()
    set(soversion ${PROJECT_VERSION_MAJOR})
  endif()
  # A parent project may hide symbols by default. The libraries export everything all the same: their headers have no
  # attributes for single classes.
  get_directory_property(options COMPILE_OPTIONS)
  if(NOT QUINTET_IS_TOP_LEVEL OR "${CMAKE_CXX_VISIBILITY_PRESET};${CMAKE_CXX_FLAGS};${options}" MATCHES "hidden|protected|internal")
    target_compile_options(${target} PRIVATE -fvisibility=default -fno-visibility-inlines-hidden)
  endif()
  if(NOT QUINTET_IS_TOP_LEVEL)  # the parent's warnings, perhaps as errors, are for its own sources
    target_compile_options(${target} PRIVATE -w)
  endif()
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
    INSTALL_RPATH "$ORIGIN"  # the libraries are installed in one folder
    DEFINE_SYMBOL "")  # not needed; without it, shared and static libraries use the same objects
endfunction()

# quintet_add_layer(<name> LIBS ... [WITHOUT folder...] [TEST_LIBS target...] [PRECOMPILE header...])
# Adds the library quintet_<name>, included as <quintet/<name>/...>, and its tests. Its sources are those of the current
# directory and its folders, except the folders after WITHOUT. A layer without a .cpp is an interface library. With
# QUINTET_PRECOMPILE the headers are compiled once for the library's sources, and once for its tests.
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
  # As a part of another project the headers are system headers there, without warnings, as those of installed libraries.
  if(QUINTET_IS_TOP_LEVEL)
    set(system "")
  else()
    set(system SYSTEM)
  endif()
  target_include_directories(${target} ${system} ${scope}
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
