# SPDX-License-Identifier: Apache-2.0
# The packages that cmake/package.sh makes by CPack: for Debian libvscan1 (its number is that of the SONAME),
# libvscan-dev and libvscan1-dbgsym; and an archive that can be unpacked anywhere.
set(CPACK_PACKAGE_NAME libvscan)
set(CPACK_PACKAGE_VENDOR "libvscan maintainers")
# Who made them, as Debian's tools are told; else nobody who could be written to.
set(CPACK_PACKAGE_CONTACT "libvscan maintainers <libvscan@example.com>")
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_FILE_NAME libvscan-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES OFF) # cmake/shared.cmake has done it
set(CPACK_ARCHIVE_FILE_EXTENSION tgz)

set(runtime libvscan${abi_version})
set(release ${PROJECT_VERSION}-1)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development documentation debug)
set(CPACK_COMPONENT_RUNTIME_GROUP lib)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP dev)
set(CPACK_COMPONENT_DOCUMENTATION_GROUP dev)
set(CPACK_COMPONENT_DEBUG_GROUP dbgsym)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# package(GROUP NAME SECTION DEPENDS LINE...): the lines are the description below its first one.
macro(package group name section depends)
  set(CPACK_DEBIAN_${group}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${group}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${group}_PACKAGE_MULTIARCH same) # CMake 3.31 and later
  set(CPACK_DEBIAN_${group}_PACKAGE_DEPENDS "${depends}")
  string(REPLACE ";" "\n" CPACK_COMPONENT_${group}_DESCRIPTION "${ARGN}")
endmacro()
set(backends "It runs on the CPU, with several threads and vector instructions.")
if(vscan_with_cuda)
  set(backends "It runs on NVIDIA GPUs, whose driver is all that it needs of CUDA,"
               "and on the CPU where there is no GPU.")
endif()
set(about "libvscan has prefix scans and what is related to them: reductions,"
    "segmented scans, packs, splits, sorts. Sums of floats have the same bits"
    "in every run and on every machine." ${backends})
package(LIB ${runtime} libs "" ${about})
package(DEV libvscan-dev libdevel "${runtime} (= ${release})"
        ${about} "This package has what programs are compiled with.")
package(DBGSYM ${runtime}-dbgsym debug "${runtime} (= ${release})"
        "Debugging symbols of ${runtime}.")
set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
# What programs that are linked with it depend on; and that ldconfig is to run.
file(WRITE ${PROJECT_BINARY_DIR}/shlibs "libvscan ${abi_version} ${runtime} (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/shlibs ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/changelogs.cmake)
include(CPack)
