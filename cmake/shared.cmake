# SPDX-License-Identifier: Apache-2.0
# How libvscan.so is linked; its debugging symbols, in a file of their own.
if(vscan_with_cuda)
  target_link_libraries(vscan PRIVATE CUDA::cudart_static)
endif()
target_link_options(vscan PRIVATE
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/lib/libvscan.map
  ${vscan_hardening_link} LINKER:--build-id=sha1
  LINKER:--as-needed -static-libgcc LINKER:--exclude-libs,ALL
  LINKER:-z,nodelete) # threads that wait for work run its code, see lib/cpu/parallel.c
if(NOT VSCAN_SANITIZE)
  # A symbol that nothing provides must fail here, not in the program that loads the library.
  target_link_options(vscan PRIVATE LINKER:-z,defs)
endif()

# A parent project strips or keeps what it wants. Here symbols leave the library, as cudart brings half
# a megabyte of them, and go to libvscan.so.VERSION.debug, which debuggers find by the build's number.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR VSCAN_SANITIZE)
  return()
endif()
set(vscan_symbols ${PROJECT_BINARY_DIR}/lib/libvscan.so.${PROJECT_VERSION}.debug)
target_compile_options(vscan PRIVATE $<$<COMPILE_LANGUAGE:C>:-g>)
add_custom_command(TARGET vscan POST_BUILD VERBATIM BYPRODUCTS ${vscan_symbols}
  COMMAND ${CMAKE_OBJCOPY} --only-keep-debug --compress-debug-sections $<TARGET_FILE:vscan> ${vscan_symbols}
  COMMAND ${CMAKE_STRIP} --strip-all --remove-section=.comment $<TARGET_FILE:vscan>
  COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=${vscan_symbols} $<TARGET_FILE:vscan>)
