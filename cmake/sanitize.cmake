# SPDX-License-Identifier: Apache-2.0
# VSCAN_SANITIZE: instruments the library and the tests alike.
if(VSCAN_SANITIZE STREQUAL "address")
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(VSCAN_SANITIZE STREQUAL "thread")
  set(flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(VSCAN_SANITIZE STREQUAL "undefined") # Clang's finds more than GCC's: arithmetic on NULL
  set(flags -fsanitize=undefined -fno-sanitize-recover=all)
elseif(VSCAN_SANITIZE STREQUAL "fuzzer") # Clang alone; tests/fuzz has the program
  # without trace-cmp: no byte of an input is ever compared with a constant, and it takes half the time
  set(flags -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
      -fno-omit-frame-pointer -fno-sanitize-coverage=trace-cmp)
elseif(VSCAN_SANITIZE)
  message(FATAL_ERROR
          "VSCAN_SANITIZE is address, thread, undefined, fuzzer or empty, not ${VSCAN_SANITIZE}")
endif()
if(VSCAN_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:C>:${flags}>")
  add_link_options(${flags})
endif()
