# SPDX-License-Identifier: Apache-2.0
# The program vscan-info.
file(GLOB info_sources CONFIGURE_DEPENDS lib/info/*.c)
add_executable(vscan-info ${info_sources})
set_target_properties(vscan-info PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/run
  POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(vscan-info PRIVATE _GNU_SOURCE)
# Its serial loops add in the order that the library promises, so they may not contract either.
target_compile_options(vscan-info PRIVATE
  ${vscan_c_warnings} ${vscan_hardening} ${vscan_fortify} -ffp-contract=off)
target_include_directories(vscan-info PRIVATE lib)
target_link_libraries(vscan-info PRIVATE vscan m)
target_link_options(vscan-info PRIVATE -pie ${vscan_hardening_link})
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_custom_command(TARGET vscan-info POST_BUILD VERBATIM
    COMMAND ${CMAKE_STRIP} --strip-all --remove-section=.comment $<TARGET_FILE:vscan-info>)
endif()
