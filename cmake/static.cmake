# SPDX-License-Identifier: Apache-2.0
# libvscan.a: one object, with the CUDA runtime inside, whose only global symbols are those of vscan.h. So a
# program that links with it needs no CUDA Toolkit, and may have another CUDA runtime of its own.
set(object ${PROJECT_BINARY_DIR}/lib/vscan.o)
set(cudart)
if(vscan_with_cuda)
  set(cudart $<TARGET_FILE:CUDA::cudart_static>)
  target_link_libraries(vscan PRIVATE ${CMAKE_DL_LIBS} rt) # of cudart
endif()
set_target_properties(vscan PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF) # objcopy needs machine code
add_custom_command(TARGET vscan POST_BUILD VERBATIM BYPRODUCTS ${object}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object}
          -Wl,--whole-archive $<TARGET_FILE:vscan> -Wl,--no-whole-archive ${cudart}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=vscan_[a-z]* ${object}
  COMMAND ${CMAKE_COMMAND} -E rm $<TARGET_FILE:vscan>
  COMMAND ${CMAKE_AR} rcs $<TARGET_FILE:vscan> ${object})
# Its threads must not lose their code where the library that has it inside is unloaded (lib/cpu/parallel.c).
foreach(type SHARED_LIBRARY MODULE_LIBRARY)
  target_link_options(vscan INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,${type}>:LINKER:-z,nodelete>)
endforeach()
