# SPDX-License-Identifier: BSL-1.0
# QuintetDeb: Debian packages of the components library, development and, with quintet-bench, tools, by `cpack`.
# scripts/package sets what this file needs: a prefix of /usr, shared libraries and the QUINTET_DEB_... variables.
set(QUINTET_DEB_REVISION "1" CACHE STRING "Revision of the packages: what stands after the version and a hyphen")
set(QUINTET_DEB_MAINTAINER "" CACHE STRING "Maintainer of the packages: Name <address>")
set(QUINTET_DEB_BOOST "" CACHE STRING "The package with Boost's headers that the library was compiled with")
set(QUINTET_DEB_DATE "" CACHE STRING "Date of the changelog, as `date -R` prints it")
foreach(name QUINTET_DEB_MAINTAINER QUINTET_DEB_BOOST QUINTET_DEB_DATE)
  if(NOT ${name})
    message(FATAL_ERROR "QUINTET_DEB needs ${name}; scripts/package sets it.")
  endif()
endforeach()
if(NOT BUILD_SHARED_LIBS)
  message(FATAL_ERROR "QUINTET_DEB needs BUILD_SHARED_LIBS=ON; scripts/package sets it.")
endif()

get_target_property(soversion quintet_base SOVERSION)
set(QUINTET_DEB_VERSION ${PROJECT_VERSION}-${QUINTET_DEB_REVISION})
set(package_of_library libquintet${soversion})
set(package_of_development libquintet-dev)
set(package_of_tools quintet-bench)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME quintet)
set(CPACK_PACKAGE_VENDOR Quintet)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # CPack would put it before the descriptions, which begin with their own
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL library development)  # `documents` is for other systems: Debian has rules of its own
if(TARGET quintet_bench)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)  # one package for each component
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${QUINTET_DEB_REVISION})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${QUINTET_DEB_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The packages depend on each other with the exact version: before 1.0 the libraries promise no more.
set(same_version "(= ${QUINTET_DEB_VERSION})")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# dpkg-shlibdeps finds the libraries of this build here, and the packages of all others in the system.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${PROJECT_BINARY_DIR}/base ${PROJECT_BINARY_DIR}/net ${PROJECT_BINARY_DIR}/threadmodels ${PROJECT_BINARY_DIR}/bus)

set(summary "servers on Boost.Asio under five threading models")
file(READ packaging/deb/description.txt about)
string(STRIP "${about}" about)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${package_of_library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/deb/library/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "${summary} - shared libraries\n${about}\n.\nPrograms that use Quintet need this package.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ${package_of_development})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# Public headers include Boost's, so that a program must be compiled with the version that the libraries know.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${package_of_library} ${same_version}, ${QUINTET_DEB_BOOST}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "${summary} - headers\n${about}\n.\nThis package has the headers, and the files for CMake and pkg-config.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME ${package_of_tools})
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS
  "${package_of_library} ${same_version}, python3 (>= 3.11), python3-numpy, python3-jinja2")
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/deb/tools/prerm)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
  "${summary} - benchmarks\n${about}\n.\nThe tool quintet-bench measures such servers with its own load generator.")

# compress(<file> <result>): gzip as Debian wants it, without a name and a time.
function(quintet_compress file result)
  execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${result} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Each package has a copyright, both changelogs, and the lintian tags that it overrides, with the reasons.
set(deb_dir ${PROJECT_BINARY_DIR}/deb)
configure_file(packaging/deb/changelog.in ${deb_dir}/changelog @ONLY)
file(READ LICENSE QUINTET_DEB_LICENSE)
string(STRIP "${QUINTET_DEB_LICENSE}" QUINTET_DEB_LICENSE)
string(REPLACE "\n\n" "\n.\n" QUINTET_DEB_LICENSE "${QUINTET_DEB_LICENSE}")
string(REPLACE "\n" "\n " QUINTET_DEB_LICENSE " ${QUINTET_DEB_LICENSE}")
configure_file(packaging/deb/copyright.in ${deb_dir}/copyright @ONLY)
quintet_compress(${deb_dir}/changelog ${deb_dir}/changelog.Debian.gz)
quintet_compress(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${deb_dir}/changelog.gz)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(package ${package_of_${component}})
  install(FILES ${deb_dir}/copyright ${deb_dir}/changelog.Debian.gz ${deb_dir}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  if(EXISTS ${PROJECT_SOURCE_DIR}/packaging/deb/${component}/overrides.in)
    configure_file(packaging/deb/${component}/overrides.in ${deb_dir}/${package} @ONLY)
    install(FILES ${deb_dir}/${package} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component})
  endif()
endforeach()
if(TARGET quintet_bench)
  quintet_compress(${PROJECT_SOURCE_DIR}/packaging/deb/tools/quintet-bench.1 ${deb_dir}/quintet-bench.1.gz)
  install(FILES ${deb_dir}/quintet-bench.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()

include(CPack)
