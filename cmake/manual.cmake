# SPDX-License-Identifier: Apache-2.0
# The manual as HTML and as man pages, made of the headers' comments and of cmake/manual/*.md: in the build
# folder's manual/, and installed from there. VSCAN_MANUAL=OFF, and where there is no Python: none.
set(VSCAN_MANUAL ${PROJECT_IS_TOP_LEVEL} CACHE BOOL "make pages of the manual, where there is a Python")
find_program(VSCAN_PYTHON NAMES python3 DOC "the Python that makes pages of the manual")
mark_as_advanced(VSCAN_PYTHON)
if(NOT VSCAN_MANUAL OR NOT VSCAN_PYTHON)
  return()
endif()

file(GLOB manual_sources CONFIGURE_DEPENDS cmake/manual/*)
set(manual_dir ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual_dir}/html/index.html VERBATIM
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
          ${VSCAN_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/manual/manual.py ${manual_dir}
  DEPENDS ${manual_sources} include/vscan.h include/vscan_ranks.h include/vscan_mpi.h CHANGELOG.md
  COMMENT "Making pages of the manual")
add_custom_target(manual ALL DEPENDS ${manual_dir}/html/index.html)
if(VSCAN_INSTALL)
  install(DIRECTORY ${manual_dir}/html DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libvscan
          COMPONENT manual OPTIONAL)
  install(DIRECTORY ${manual_dir}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT documentation OPTIONAL)
endif()
