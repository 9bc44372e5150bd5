# SPDX-License-Identifier: BSL-1.0
# QuintetInstall: the files that `cmake --install` copies, with the packages for find_package(quintet) and pkg-config.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/quintet)

install(TARGETS quintet_base quintet_net quintet_testing quintet_threadmodels quintet_quintet EXPORT quintetTargets)
# The public headers (doc/reference.md) and the headers that they include, found at installation time.
install(CODE "
  set(SOURCE_DIR [[${PROJECT_SOURCE_DIR}]])
  get_filename_component(DESTINATION [[${CMAKE_INSTALL_INCLUDEDIR}/quintet]] ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")")
install(SCRIPT cmake/QuintetHeaders.cmake)
install(EXPORT quintetTargets NAMESPACE quintet:: DESTINATION ${package_dir})

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
  DESTINATION ${package_dir})

# The layers that are libraries, dependent ones first, in the order that a static link needs.
set(QUINTET_PC_LIBS "")
foreach(layer threadmodels net base)
  get_target_property(type quintet_${layer} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    string(APPEND QUINTET_PC_LIBS " -lquintet_${layer}")
  endif()
endforeach()
if(QUINTET_ENGINE_URING AND NOT BUILD_SHARED_LIBS)
  string(APPEND QUINTET_PC_LIBS " -luring")
endif()
set(QUINTET_PC_DEFINITIONS "")
foreach(definition QUINTET_AFFINITY_GUARD QUINTET_COUNT_COPIES)  # headers depend on them
  if(${definition})
    string(APPEND QUINTET_PC_DEFINITIONS " -D${definition}")
  endif()
endforeach()
configure_file(cmake/quintet.pc.in ${PROJECT_BINARY_DIR}/quintet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/quintet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
