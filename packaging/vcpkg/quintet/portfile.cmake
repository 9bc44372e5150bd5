# SPDX-License-Identifier: BSL-1.0
# portfile: builds this checkout, of which the port is a part: vcpkg install quintet --overlay-ports=packaging/vcpkg
# UNTESTED: vcpkg could not be had where this port was written.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES uring QUINTET_ENGINE_URING
  INVERTED_FEATURES tls CMAKE_DISABLE_FIND_PACKAGE_OpenSSL)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DQUINTET_TESTS=OFF
    -DQUINTET_EXAMPLES=OFF
    -DQUINTET_BENCHMARKS=OFF
    -DQUINTET_PRECOMPILE=OFF
    -DQUINTET_INSTALL=ON
    ${feature_options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME quintet CONFIG_PATH lib/cmake/quintet)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/quintet")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
