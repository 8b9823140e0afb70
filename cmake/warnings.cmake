# SPDX-License-Identifier: Apache-2.0
# The warnings of the project's own C code, as vscan_c_warnings.
set(vscan_c_warnings -Wall -Wextra -Wpedantic -Wconversion)
if(VSCAN_WERROR)
  list(APPEND vscan_c_warnings -Werror)
endif()
