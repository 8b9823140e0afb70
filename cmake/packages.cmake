# SPDX-License-Identifier: Apache-2.0
# The packages that cmake/package.sh makes by CPack, for Debian: libvscan1 (its number is that of the SONAME),
# libvscan-ranks1, libvscan-dev (with what is compiled with either), libvscan-tools, libvscan-doc and
# libvscan1-dbgsym; for Fedora and the like: libvscan, libvscan-ranks, libvscan-devel, libvscan-tools, libvscan-doc;
# and an archive that can be unpacked anywhere. None has libvscan_mpi, which is for the MPI that it was compiled with.
set(CPACK_PACKAGE_NAME libvscan)
set(CPACK_PACKAGE_VENDOR "libvscan maintainers")
# Who made them, as Debian's tools are told; else an address at a domain that never exists (RFC 2606), as there must
# be one.
set(CPACK_PACKAGE_CONTACT "libvscan maintainers <nobody@libvscan.invalid>")
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_HOMEPAGE_URL "$ENV{VSCAN_HOMEPAGE}")
set(CPACK_PACKAGE_FILE_NAME libvscan-${PROJECT_VERSION}${vscan_package_suffix}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES OFF) # cmake/shared.cmake has done it
set(CPACK_ARCHIVE_FILE_EXTENSION tgz)

set(runtime libvscan${abi_version})
set(release 0.1${vscan_package_suffix}) # before the 1 of a package that Debian itself might have
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development documentation tools manual debug)
if(VSCAN_RANKS)
  list(APPEND CPACK_COMPONENTS_ALL ranks ranks_development)
endif()
set(CPACK_COMPONENT_RUNTIME_GROUP lib)
set(CPACK_COMPONENT_RANKS_GROUP ranks)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP dev)
set(CPACK_COMPONENT_RANKS_DEVELOPMENT_GROUP dev)
set(CPACK_COMPONENT_DOCUMENTATION_GROUP dev)
set(CPACK_COMPONENT_TOOLS_GROUP tools)
set(CPACK_COMPONENT_MANUAL_GROUP doc)
set(CPACK_COMPONENT_DEBUG_GROUP dbgsym)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE ${release})
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
# The same sources make the same packages. Folders of everybody belong to none of them.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _buildhost libvscan
%define _build_id_links none")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/lib64/cmake /usr/lib64/pkgconfig /usr/share/licenses
    /usr/share/man /usr/share/man/man1 /usr/share/man/man3)
set(CPACK_RPM_INSTALL_WITH_EXEC ON) # else, built on Debian, it finds no dependencies of the library

# package(GROUP DEB RPM SECTION LINE...): the lines are the description below its first one.
macro(package group deb rpm section)
  set(CPACK_DEBIAN_${group}_PACKAGE_NAME ${deb})
  set(CPACK_DEBIAN_${group}_PACKAGE_SECTION ${section})
  set(CPACK_RPM_${group}_PACKAGE_NAME ${rpm})
  string(REPLACE ";" "\n" CPACK_COMPONENT_${group}_DESCRIPTION "${ARGN}")
endmacro()
set(summary "prefix scans on CPUs, with several threads and vector instructions")
set(parts machines)
set(backends)
if(vscan_with_cuda)
  set(summary "prefix scans on NVIDIA GPUs, and on CPUs where there is no GPU")
  set(parts "GPUs or machines")
  set(backends "The driver is all that it needs of CUDA: ${vscan_driver} or later.")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${summary}")
set(about "libvscan has prefix scans and what is related to them: reductions,"
    "segmented scans, packs, splits, sorts. Sums of floats have the same bits"
    "in every run and on every machine." ${backends})
package(LIB ${runtime} libvscan libs ${about})
package(RANKS libvscan-ranks${abi_version} libvscan-ranks libs
        ${about} "This package has libvscan_ranks, for vectors on many ${parts}.")
package(DEV libvscan-dev libvscan-devel libdevel ${about} "This package has what programs are compiled with.")
package(TOOLS libvscan-tools libvscan-tools utils
        ${about} "This package has vscan-info, which says what the library runs on, and"
        "checks and measures it.")
package(DOC libvscan-doc libvscan-doc doc
        ${about} "This package has the manual as pages, and programs as examples.")
package(DBGSYM ${runtime}-dbgsym libvscan-debuginfo debug
        ${about} "This package has debugging symbols of ${runtime},"
        "which debuggers find by themselves.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_RPM_DOC_PACKAGE_ARCHITECTURE noarch)
set(this "(= ${PROJECT_VERSION}-${release})")
foreach(group RANKS TOOLS DBGSYM DEV)
  set(CPACK_DEBIAN_${group}_PACKAGE_DEPENDS "${runtime} ${this}")
endforeach()
if(VSCAN_RANKS)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libvscan-ranks${abi_version} ${this}")
endif()
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS libvscan-doc)
set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
foreach(group RANKS TOOLS DEV)
  set(CPACK_RPM_${group}_PACKAGE_REQUIRES "libvscan = ${PROJECT_VERSION}-${release}")
endforeach()
if(VSCAN_RANKS)
  string(APPEND CPACK_RPM_DEV_PACKAGE_REQUIRES ", libvscan-ranks = ${PROJECT_VERSION}-${release}")
endif()
# What programs that are linked with it depend on; and that ldconfig is to run.
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
# shlibs(GROUP NAME PACKAGE): the library's name without .so, and its package.
macro(shlibs group name package)
  set(file ${PROJECT_BINARY_DIR}/${package}/shlibs)
  file(WRITE ${file} "${name} ${abi_version} ${package} (>= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_${group}_PACKAGE_CONTROL_EXTRA ${file} ${PROJECT_BINARY_DIR}/triggers)
endmacro()
shlibs(LIB libvscan ${runtime})
shlibs(RANKS libvscan_ranks libvscan-ranks${abi_version})
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/changelogs.cmake)
include(CPack)
