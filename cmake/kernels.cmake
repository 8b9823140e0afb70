# SPDX-License-Identifier: Apache-2.0
# Which files of kernels/ are compiled together. What is alike in kernels takes little room if it is compressed together:
# one object for all files that match one of these. Sets objects, files that include these, and kernels, all others.
file(GLOB_RECURSE kernels CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/kernels ${PROJECT_SOURCE_DIR}/kernels/*.cu)
set(objects)
foreach(files "scan/eight_bytes|scan/four_bytes|scan/carried/large" "machine/|map/" "pack/|segments/|split/" "sort/"
        "reduce/|scan/carried/carried|scan/extreme|scan/large/head_bits|scan/widening")
  set(together ${kernels})
  list(FILTER together INCLUDE REGEX "^(${files})")
  list(FILTER kernels EXCLUDE REGEX "^(${files})")
  list(JOIN together "\"\n#include \"" text)
  string(REGEX MATCHALL "[a-z_]+" name ${files})
  list(JOIN name "_" name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kernels/${name}.cu CONTENT "#include \"${text}\"\n" @ONLY)
  list(APPEND objects ${PROJECT_BINARY_DIR}/kernels/${name}.cu)
endforeach()
list(TRANSFORM kernels PREPEND kernels/)
