# SPDX-License-Identifier: BSL-1.0
# QuintetTest: the functions that make tests from the tests/ folder of each layer.
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS unit_test_framework)

# Boost.Test's main function, compiled once: its header-only form would cost eight seconds per test.
set(test_main ${PROJECT_BINARY_DIR}/test_main.cpp)
file(CONFIGURE OUTPUT ${test_main} CONTENT "#define BOOST_TEST_MODULE quintet\n#include <boost/test/unit_test.hpp>\n")
add_library(quintet_test_main STATIC EXCLUDE_FROM_ALL ${test_main})
target_compile_definitions(quintet_test_main PUBLIC BOOST_TEST_DYN_LINK)
target_compile_features(quintet_test_main PUBLIC cxx_std_20)
target_link_libraries(quintet_test_main PUBLIC Boost::unit_test_framework quintet_build PRIVATE quintet_warnings)

# Under a sanitizer clang would spend most of its time on optimising the assertions of Boost.Test, so tests are not
# optimised, but the library is. g++ still optimises tests: without that, its coroutines overflow the stack.
if(QUINTET_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(quintet_test_main PUBLIC -O0)
endif()

# quintet_precompile_for_tests(<layer> LIBS target... HEADERS header...): compiles the headers that the layer's tests
# begin with once for all of them. The target is an executable, because executables (-fPIE) cannot use the precompiled
# headers of a library (-fPIC).
function(quintet_precompile_for_tests layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS;HEADERS")
  set(source ${PROJECT_BINARY_DIR}/${layer}_test_headers.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  add_executable(quintet_${layer}_test_headers EXCLUDE_FROM_ALL ${source})
  target_link_libraries(quintet_${layer}_test_headers PRIVATE ${arg_LIBS} quintet_test_main quintet_warnings)
  target_precompile_headers(quintet_${layer}_test_headers PRIVATE <boost/test/unit_test.hpp>
    <chrono> <functional> <future> <map> <memory> <span> <string> <thread> <vector> ${arg_HEADERS})
endfunction()

# Exits with status 77 if the kernel refuses an engine, so that its tests are skipped.
add_executable(quintet_engine_check EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/tests/engine_check.cpp)
target_link_libraries(quintet_engine_check PRIVATE quintet::asio_engine quintet_warnings)

# quintet_add_test(<name> SOURCES file... [LIBS target...] [LABELS label...] [TIMEOUT seconds] [RUN_SERIAL])
# Adds one executable on Boost.Test, registered with ctest under the label of its layer and the given labels.
# Sources may add options by a line of their own:  // ctest: LABELS conformance TIMEOUT 300 RUN_SERIAL LIBS fmt::fmt
# Also as <name>.<engine>, on every other engine:  // ctest: EACH_ENGINE
# Like LIBS, but the test is left out if one is missing:  // ctest: OPTIONAL_LIBS spdlog::spdlog
# Left out unless an option is on, without which the test would see nothing:  // ctest: NEEDS QUINTET_COUNT_COPIES
# Not under a sanitizer whose definitions collide with the test's:  // ctest: NOT_UNDER thread
function(quintet_add_test name)
  set(own_options)
  set(each_engine OFF)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RUN_SERIAL" "TIMEOUT" "SOURCES;LIBS;LABELS")
  foreach(source IN LISTS arg_SOURCES)
    file(STRINGS ${source} torn REGEX "^//.+ ctest: ")
    if(torn)
      message(FATAL_ERROR "${source}: the options after 'ctest:' must have a line of their own")
    endif()
    file(STRINGS ${source} line REGEX "^// ctest: ")
    if(line)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
      string(REGEX REPLACE "// ctest: *" "" line "${line}")
      separate_arguments(own_options UNIX_COMMAND "${line}")
      cmake_parse_arguments(own "RUN_SERIAL;EACH_ENGINE" "TIMEOUT;NOT_UNDER;NEEDS" "LIBS;OPTIONAL_LIBS;LABELS" ${own_options})
      if(own_NEEDS AND NOT ${own_NEEDS})
        message(STATUS "${name} is left out: needs -D${own_NEEDS}=ON, as in the preset dev")
        return()
      endif()
      if(own_NOT_UNDER AND QUINTET_SANITIZE MATCHES "${own_NOT_UNDER}")
        message(STATUS "${name} is left out: not under the ${own_NOT_UNDER} sanitizer")
        return()
      endif()
      foreach(lib IN LISTS own_OPTIONAL_LIBS)
        if(NOT TARGET ${lib})
          message(STATUS "${name} is left out: there is no ${lib}")
          return()
        endif()
      endforeach()
      list(APPEND arg_LIBS ${own_LIBS} ${own_OPTIONAL_LIBS})
      list(APPEND arg_LABELS ${own_LABELS})
      if(own_TIMEOUT)
        set(arg_TIMEOUT ${own_TIMEOUT})
      endif()
      if(own_RUN_SERIAL)
        set(arg_RUN_SERIAL ON)
      endif()
      if(own_EACH_ENGINE)
        set(each_engine ON)
      endif()
    endif()
  endforeach()
  if(QUINTET_SANITIZE MATCHES thread)  # it has nothing to find where there is one thread
    set(threads)
    foreach(source IN LISTS arg_SOURCES)
      file(STRINGS ${source} lines REGEX "thread|async|running|watchdog|child|forked" LIMIT_COUNT 1)
      list(APPEND threads ${lines})
    endforeach()
    if(NOT threads)
      message(STATUS "${name} is left out: no source of it starts a thread")
      return()
    endif()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} quintet_test_main quintet_warnings)
  get_filename_component(layer ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  if(TARGET quintet_${layer}_test_headers AND NOT own_LIBS AND NOT own_OPTIONAL_LIBS)  # libraries may change them
    target_precompile_headers(${name} REUSE_FROM quintet_${layer}_test_headers)
  endif()
  # Errors go to the output. The log beside the program names each test case, even one that hangs. It has another
  # format, because Boost.Test allows one log per format.
  add_test(NAME ${name} COMMAND ${name} --color_output=no
                                --logger=HRF,error,stdout:XML,test_suite,${CMAKE_CURRENT_BINARY_DIR}/${name}.log)
  quintet_set_test_properties(${name} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${arg_RUN_SERIAL})
  if(NOT each_engine)
    return()
  endif()
  add_dependencies(${name} quintet_engine_check)
  foreach(engine IN LISTS QUINTET_ENGINES)
    add_test(NAME ${name}.${engine}
             COMMAND bash ${PROJECT_SOURCE_DIR}/cmake/tests/on_engine.sh ${engine} $<TARGET_FILE:quintet_engine_check>
                     $<TARGET_FILE:${name}> --color_output=no
                     --logger=HRF,error,stdout:XML,test_suite,${CMAKE_CURRENT_BINARY_DIR}/${name}.${engine}.log)
    quintet_set_test_properties(${name}.${engine} LABELS ${arg_LABELS} engines TIMEOUT ${arg_TIMEOUT}
                                RUN_SERIAL ${arg_RUN_SERIAL})
  endforeach()
endfunction()

function(quintet_set_test_properties name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;RUN_SERIAL" "LABELS")
  file(RELATIVE_PATH layer ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" layer "${layer}")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 180)  # a test that hangs is a test that fails
  endif()
  set(cost)
  if(arg_TIMEOUT GREATER 180)
    set(cost COST ${arg_TIMEOUT})  # ctest begins with the long ones
  endif()
  if(QUINTET_SANITIZE OR QUINTET_COVERAGE)
    math(EXPR arg_TIMEOUT "5 * ${arg_TIMEOUT}")
  endif()
  # No stall reports: handlers that wait for their test are normal, and tests of log output must not find them there.
  set_tests_properties(${name} PROPERTIES LABELS "${layer};${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
                                          ENVIRONMENT QUINTET_STALL_BOUND=0 ${cost})
  if(arg_RUN_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# quintet_add_tests_here([LIBS target...] [PRECOMPILE header...]): adds the current directory's tests by their names.
#   tests/<unit>_test.cpp      one executable, <layer>_<unit>_test
#   tests/<suite>/*.cpp        one executable of all of them, <layer>_<suite>_test, under the label <suite>; compiled
#                              as one source, so that names outside of functions must differ
#   tests/<unit>_test.sh       run by bash with the build tree as argument; status 77: skipped; "# ctest: RUN_SERIAL TIMEOUT 300 LABELS x"
#   tests/support/             helpers: an include directory, and a static library if it has sources
function(quintet_add_tests_here)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LIBS;PRECOMPILE")
  get_filename_component(layer ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  if(QUINTET_PRECOMPILE AND arg_PRECOMPILE)
    quintet_precompile_for_tests(${layer} LIBS ${arg_LIBS} HEADERS ${arg_PRECOMPILE})
  endif()
  file(GLOB support CONFIGURE_DEPENDS tests/support/*.cpp)
  if(support)
    add_library(quintet_${layer}_test_support STATIC EXCLUDE_FROM_ALL ${support})
    target_link_libraries(quintet_${layer}_test_support PUBLIC ${arg_LIBS} PRIVATE quintet_warnings)
    target_include_directories(quintet_${layer}_test_support PUBLIC tests/support)
    list(APPEND arg_LIBS quintet_${layer}_test_support)
  endif()

  file(GLOB tests CONFIGURE_DEPENDS tests/*_test.cpp)
  foreach(source IN LISTS tests)
    get_filename_component(unit ${source} NAME_WE)
    quintet_add_test(${layer}_${unit} SOURCES ${source} LIBS ${arg_LIBS})
    if(TARGET ${layer}_${unit})
      target_include_directories(${layer}_${unit} PRIVATE tests/support)
    endif()
  endforeach()

  file(GLOB suite_sources CONFIGURE_DEPENDS tests/*/*.cpp)
  list(FILTER suite_sources EXCLUDE REGEX "/tests/support/")
  set(suites ${suite_sources})
  list(TRANSFORM suites REPLACE ".*/tests/([^/]+)/.*" "\\1")
  list(REMOVE_DUPLICATES suites)
  foreach(suite IN LISTS suites)
    set(sources ${suite_sources})
    list(FILTER sources INCLUDE REGEX "/tests/${suite}/")
    quintet_add_test(${layer}_${suite}_test SOURCES ${sources} LIBS ${arg_LIBS} LABELS ${suite})
    if(TARGET ${layer}_${suite}_test)
      target_include_directories(${layer}_${suite}_test PRIVATE tests/support)
      # Compiled as one source: they instantiate the same templates, which takes most of the time of each.
      set_target_properties(${layer}_${suite}_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()

  file(GLOB scripts CONFIGURE_DEPENDS tests/*_test.sh)
  foreach(script IN LISTS scripts)
    get_filename_component(unit ${script} NAME_WE)
    add_test(NAME ${layer}_${unit} COMMAND bash ${script} ${PROJECT_BINARY_DIR})
    file(STRINGS ${script} line REGEX "^# ctest: ")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
    string(REGEX REPLACE "^# ctest: *" "" line "${line}")
    separate_arguments(options UNIX_COMMAND "${line}")
    cmake_parse_arguments(own "RUN_SERIAL" "TIMEOUT" "LABELS" ${options})
    quintet_set_test_properties(${layer}_${unit} LABELS ${own_LABELS} TIMEOUT ${own_TIMEOUT} RUN_SERIAL ${own_RUN_SERIAL})
  endforeach()
endfunction()
