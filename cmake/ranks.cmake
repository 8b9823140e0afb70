# SPDX-License-Identifier: Apache-2.0
# libvscan_ranks: the target vscan_ranks, for many GPUs or machines. And vscan_add_on, by which cmake/mpi.cmake makes
# another library.
set(ranks ON)
if(NOT PROJECT_IS_TOP_LEVEL OR NOT VSCAN_SHARED)
  set(ranks OFF) # only if asked for
endif()
option(VSCAN_RANKS "libvscan_ranks: vectors that lie on many GPUs or machines" ${ranks})

# vscan_add_on(NAME MAP SOURCE...): the target vscan_NAME, a library beside libvscan.
function(vscan_add_on name map)
  add_library(vscan_${name} SHARED ${ARGN})
  add_library(vscan::${name} ALIAS vscan_${name})
  set_target_properties(vscan_${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
    VERSION ${PROJECT_VERSION}
    SOVERSION ${abi_version}
    EXPORT_NAME ${name}
    INSTALL_RPATH "$ORIGIN" # whoever opens it by its path; distributions set CMAKE_SKIP_INSTALL_RPATH
    C_VISIBILITY_PRESET hidden
    LINK_DEPENDS ${map})
  target_compile_definitions(vscan_${name} PRIVATE VSCAN_BUILDING _GNU_SOURCE)
  target_compile_options(vscan_${name} PRIVATE
    ${vscan_c_warnings} ${vscan_hardening} ${vscan_fortify} -ffp-contract=off)
  target_include_directories(vscan_${name} PRIVATE lib)
  target_link_libraries(vscan_${name} PUBLIC vscan PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
  target_link_options(vscan_${name} PRIVATE
    LINKER:--version-script=${map} ${vscan_hardening_link} LINKER:--as-needed)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_custom_command(TARGET vscan_${name} POST_BUILD VERBATIM
      COMMAND ${CMAKE_STRIP} --strip-all --remove-section=.comment $<TARGET_FILE:vscan_${name}>)
  endif()
  if(NOT VSCAN_SANITIZE)
    target_link_options(vscan_${name} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

if(NOT VSCAN_RANKS)
  return()
endif()
file(GLOB ranks_sources CONFIGURE_DEPENDS lib/ranks/*.c)
configure_file(lib/ranks/libvscan_ranks.map.in libvscan_ranks.map @ONLY)
vscan_add_on(ranks ${PROJECT_BINARY_DIR}/libvscan_ranks.map ${ranks_sources})
