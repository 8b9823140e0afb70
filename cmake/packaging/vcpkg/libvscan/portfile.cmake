# SPDX-License-Identifier: Apache-2.0
# Builds this checkout: vcpkg install libvscan --overlay-ports=cmake/packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
set(cuda OFF)
if("cuda" IN_LIST FEATURES)
  set(cuda ON)
endif()
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic shared)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DVSCAN_CUDA=${cuda} -DVSCAN_SHARED=${shared} -DVSCAN_MPI=OFF -DVSCAN_MANUAL=OFF -DVSCAN_TOOLS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME vscan CONFIG_PATH lib/cmake/vscan)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
