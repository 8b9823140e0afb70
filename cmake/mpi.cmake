# SPDX-License-Identifier: Apache-2.0
# libvscan_mpi: the target vscan_mpi, where an MPI is there (vscan_with_mpi). VSCAN_MPI=ON requires one.
set(mpi AUTO)
if(NOT PROJECT_IS_TOP_LEVEL OR NOT VSCAN_SHARED)
  set(mpi OFF) # only if asked for
endif()
set(VSCAN_MPI ${mpi} CACHE STRING "libvscan_mpi: AUTO (where an mpicc works), ON or OFF")
set_property(CACHE VSCAN_MPI PROPERTY STRINGS AUTO ON OFF)

# add_mpi(NAME MPICC): an interface target with what the compiler wrapper would add; sets NAME_found.
# FindMPI knows one MPI at a time, and the tests run with two.
function(add_mpi name mpicc)
  set(${name}_found FALSE PARENT_SCOPE)
  if(NOT mpicc)
    return()
  endif()
  execute_process(COMMAND ${mpicc} -show OUTPUT_VARIABLE line RESULT_VARIABLE failed
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  add_library(${name} INTERFACE)
  foreach(word ${words})
    if(word MATCHES "^-I(.+)")
      target_include_directories(${name} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      target_link_directories(${name} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-l(.+)")
      target_link_libraries(${name} INTERFACE ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${name}_found TRUE PARENT_SCOPE)
endfunction()

set(vscan_with_mpi FALSE)
if(NOT VSCAN_MPI STREQUAL "OFF" AND NOT CMAKE_CROSSCOMPILING AND
   (NOT VSCAN_SANITIZE OR VSCAN_SANITIZE STREQUAL "address"))
  find_program(VSCAN_MPICC NAMES mpicc DOC "the compiler wrapper of the MPI to build libvscan_mpi with")
  mark_as_advanced(VSCAN_MPICC)
  add_mpi(mpi_of_library "${VSCAN_MPICC}")
  set(vscan_with_mpi ${mpi_of_library_found})
  if(VSCAN_MPI STREQUAL "ON" AND NOT vscan_with_mpi)
    message(FATAL_ERROR "VSCAN_MPI=ON, but there is no mpicc that works: set VSCAN_MPICC")
  endif()
endif()
if(NOT vscan_with_mpi)
  return()
endif()

file(GLOB mpi_sources CONFIGURE_DEPENDS lib/mpi/*.c)
add_library(vscan_mpi SHARED ${mpi_sources})
add_library(vscan::mpi ALIAS vscan_mpi)
set_target_properties(vscan_mpi PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  VERSION ${PROJECT_VERSION}
  SOVERSION ${abi_version}
  EXPORT_NAME mpi
  INSTALL_RPATH "$ORIGIN" # whoever opens it by its path; distributions set CMAKE_SKIP_INSTALL_RPATH
  C_VISIBILITY_PRESET hidden
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/lib/mpi/libvscan_mpi.map)
target_compile_definitions(vscan_mpi PRIVATE VSCAN_BUILDING _GNU_SOURCE)
target_compile_options(vscan_mpi PRIVATE
  ${vscan_c_warnings} ${vscan_hardening} ${vscan_fortify} -ffp-contract=off)
target_include_directories(vscan_mpi PRIVATE lib)
target_link_libraries(vscan_mpi PUBLIC vscan PRIVATE mpi_of_library Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(vscan_mpi PRIVATE
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/lib/mpi/libvscan_mpi.map
  ${vscan_hardening_link} LINKER:--as-needed
  $<$<CONFIG:Release>:LINKER:--strip-all>)
if(NOT VSCAN_SANITIZE)
  target_link_options(vscan_mpi PRIVATE LINKER:-z,defs)
endif()
