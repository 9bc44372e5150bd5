# SPDX-License-Identifier: BSL-1.0
# QuintetInstall: the files that `cmake --install` copies, with the packages for find_package(quintet) and pkg-config.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/quintet)

# Components: `library` is what programs need at run time, `development` what their compilation needs, `documents` the
# licence and texts, and `tools` is quintet-bench, which only `cmake --install <tree> --component tools` installs.
set(tls_library)
set(packages quintet quintet-bus)
if(TARGET quintet_tls)
  set(tls_library quintet_tls)
  list(APPEND packages quintet-tls)
endif()
install(TARGETS ${tls_library} quintet_base quintet_net quintet_asio_engine quintet_rebalancer quintet_testing quintet_threadmodels
  quintet_bus quintet_quintet EXPORT quintetTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
# Builds what is installed without the tools.
add_custom_target(quintet_libraries DEPENDS ${tls_library} quintet_testing quintet_bus)
# The public headers (doc/reference.md) and the headers that they include, found at installation time.
install(CODE "
  set(SOURCE_DIR [[${PROJECT_SOURCE_DIR}]])
  get_filename_component(DESTINATION [[${CMAKE_INSTALL_INCLUDEDIR}/quintet]] ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")"
  COMPONENT development)
install(SCRIPT cmake/QuintetHeaders.cmake COMPONENT development)
install(EXPORT quintetTargets NAMESPACE quintet:: DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(cmake/quintetConfig.cmake.in ${PROJECT_BINARY_DIR}/quintetConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# 0.2 is not compatible with 0.1, nor 2.0 with 1.0: the same rule as for SOVERSION.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/quintetConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/quintetConfig.cmake ${PROJECT_BINARY_DIR}/quintetConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The layers that are libraries, dependent ones first, in the order that a static link needs.
set(QUINTET_PC_LIBS "")
foreach(layer threadmodels net base)
  get_target_property(type quintet_${layer} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    string(APPEND QUINTET_PC_LIBS " -lquintet_${layer}")
  endif()
endforeach()
foreach(component IN ITEMS asio_engine rebalancer)  # all components, as quintet::quintet
  get_target_property(option quintet_${component} INTERFACE_LINK_OPTIONS)
  string(REPLACE "LINKER:" "-Wl," option "${option}")
  string(PREPEND QUINTET_PC_LIBS " ${option}")
endforeach()
if(QUINTET_ENGINE_URING AND NOT BUILD_SHARED_LIBS)
  string(APPEND QUINTET_PC_LIBS " -luring")
endif()
set(QUINTET_PC_OPENSSL "")  # a program with shared libraries needs neither its headers nor its libraries
if(NOT BUILD_SHARED_LIBS)
  set(QUINTET_PC_OPENSSL ", openssl >= 3.0")
endif()
set(QUINTET_PC_DEFINITIONS "")
get_target_property(definitions quintet_net INTERFACE_COMPILE_DEFINITIONS)
if("QUINTET_NO_RTTI" IN_LIST definitions)
  string(APPEND QUINTET_PC_DEFINITIONS " -DQUINTET_NO_RTTI")
endif()
foreach(definition QUINTET_AFFINITY_GUARD QUINTET_COUNT_COPIES)  # headers depend on them
  if(${definition})
    string(APPEND QUINTET_PC_DEFINITIONS " -D${definition}")
  endif()
endforeach()
# Relative, so that an installed tree can be moved. The libraries' folder may be a deep one (lib/x86_64-linux-gnu).
file(RELATIVE_PATH QUINTET_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" QUINTET_PC_PREFIX ${QUINTET_PC_PREFIX})
foreach(package IN LISTS packages)
  configure_file(cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

install(FILES LICENSE README.md RELEASE_NOTES.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents OPTIONAL)

# quintet-bench finds its Python part beside itself, so both are in a folder of their own, and bin/ has a link.
if(TARGET quintet_bench)
  set(bench_dir ${CMAKE_INSTALL_LIBEXECDIR}/quintet-bench)
  file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_LIBEXECDIR}/quintet-bench ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(quintet_bench PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  install(TARGETS quintet_bench DESTINATION ${bench_dir} COMPONENT tools EXCLUDE_FROM_ALL)
  install(DIRECTORY benchmarks/python/ DESTINATION ${bench_dir}/quintet_bench_python COMPONENT tools EXCLUDE_FROM_ALL
    PATTERN tests EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN setup.cfg EXCLUDE PATTERN CMakeLists.txt EXCLUDE)
  file(RELATIVE_PATH program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR}/quintet-bench/quintet-bench)
  file(CREATE_LINK ${program} ${PROJECT_BINARY_DIR}/quintet-bench SYMBOLIC)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/quintet-bench DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools EXCLUDE_FROM_ALL)
endif()

if(QUINTET_DEB)
  include(QuintetDeb)
endif()
