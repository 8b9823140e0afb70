# SPDX-License-Identifier: Apache-2.0
# What makes an error in the library harder to exploit: vscan_hardening for all of its host code,
# vscan_fortify for lib/, vscan_hardening_link. tests/hardening.sh looks for it in a library that was built.
set(vscan_hardening -fstack-protector-strong)
# Indirect calls arrive only where functions begin: x86-64, 64-bit ARM. The library is marked so only
# where everything in it is, the C library's start files and cudart too.
foreach(flag -fcf-protection -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER vscan_has${flag} has)
  check_c_compiler_flag("-Werror ${flag}" ${has}) # Clang accepts and ignores those of other machines
  if(${has})
    list(APPEND vscan_hardening ${flag})
  endif()
endforeach()
# FORTIFY_SOURCE needs optimization, and hides copies from sanitizers. A distribution may have set it.
set(vscan_fortify)
if(NOT VSCAN_SANITIZE)
  set(vscan_fortify "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
# All addresses are looked up when the library is loaded, and are read-only from then on.
set(vscan_hardening_link LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
