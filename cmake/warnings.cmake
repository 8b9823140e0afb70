# SPDX-License-Identifier: Apache-2.0
# The warnings of the project's own C code, as vscan_c_warnings.
set(vscan_c_warnings -Wall -Wextra -Wpedantic -Wconversion)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  list(APPEND vscan_c_warnings -Wno-unknown-pragmas) # GCC ivdep, without which nothing is wrong
endif()
if(VSCAN_WERROR)
  list(APPEND vscan_c_warnings -Werror)
endif()
