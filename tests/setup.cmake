# SPDX-License-Identifier: Apache-2.0
# What all test programs need: cmocka, and one folder to lie in, as run_dir.
find_path(CMOCKA_INCLUDE_DIR cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
mark_as_advanced(CMOCKA_INCLUDE_DIR CMOCKA_LIBRARY)

set(run_dir ${PROJECT_BINARY_DIR}/run)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${run_dir})
set(CMAKE_BUILD_RPATH "$ORIGIN")
file(COPY ${CMOCKA_LIBRARY} DESTINATION ${run_dir} FOLLOW_SYMLINK_CHAIN)
file(WRITE ${run_dir}/built_with.txt # for tests/gpu_record.sh
     "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, ${VSCAN_BACKENDS}\n")
