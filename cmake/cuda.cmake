# SPDX-License-Identifier: Apache-2.0
# Decides whether the CUDA backend is built (vscan_with_cuda), and compiles kernels/ for it.
if(NOT VSCAN_CUDA MATCHES "^(AUTO|ON|OFF|12)$")
  message(FATAL_ERROR "VSCAN_CUDA is AUTO, ON, OFF or 12, not ${VSCAN_CUDA}")
endif()

# 12: for drivers of CUDA 12 and later. Packages say so in their versions, as those of CUDA 13 need a later driver.
set(vscan_package_suffix)
if(VSCAN_CUDA STREQUAL "12")
  set(vscan_package_suffix +cu12)
  set(nvcc ${PROJECT_BINARY_DIR}/cuda12/bin/nvcc)
  if(CMAKE_CUDA_COMPILER AND NOT CMAKE_CUDA_COMPILER STREQUAL nvcc)
    message(FATAL_ERROR "VSCAN_CUDA=12 needs a build folder of its own: this one has ${CMAKE_CUDA_COMPILER}")
  endif()
  if(NOT EXISTS ${nvcc})
    execute_process(COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/cuda12.sh ${PROJECT_BINARY_DIR}/cuda12
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(ENV{CUDACXX} ${nvcc})
endif()

set(vscan_with_cuda OFF)
if(NOT VSCAN_CUDA STREQUAL "OFF")
  # CMAKE_CUDA_COMPILER or CUDACXX names the nvcc; else the one on PATH, or in the usual place.
  if(NOT CMAKE_CUDA_COMPILER OR NOT EXISTS "${CMAKE_CUDA_COMPILER}")
    unset(CMAKE_CUDA_COMPILER CACHE) # it could not compile, or has been uninstalled since
    if(NOT DEFINED ENV{CUDACXX})
      find_program(nvcc nvcc PATHS /usr/local/cuda/bin /opt/cuda/bin NO_CACHE)
      if(nvcc)
        set(ENV{CUDACXX} ${nvcc})
      endif()
    endif()
    if(VSCAN_CUDA STREQUAL "AUTO" AND DEFINED ENV{CUDACXX})
      include(CheckLanguage)
      check_language(CUDA) # an nvcc without a host compiler that it accepts is no use
      if(NOT CMAKE_CUDA_COMPILER)
        message(WARNING "$ENV{CUDACXX} cannot compile: see CMakeError.log or CMakeConfigureLog.yaml "
                        "in CMakeFiles")
      endif()
    endif()
  endif()
  if(VSCAN_CUDA MATCHES "^(ON|12)$" OR CMAKE_CUDA_COMPILER)
    set(vscan_with_cuda ON)
  endif()
endif()

if(NOT vscan_with_cuda)
  set(VSCAN_BACKENDS "CPU alone (VSCAN_CUDA=${VSCAN_CUDA})" CACHE INTERNAL "")
  message(STATUS "Backends: ${VSCAN_BACKENDS}")
  return()
endif()
if(VSCAN_SANITIZE)
  message(FATAL_ERROR "VSCAN_SANITIZE is for the CPU backend: set VSCAN_CUDA=OFF")
endif()

set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_RUNTIME_LIBRARY None) # linked by name, statically
set(CMAKE_CUDA_ARCHITECTURES OFF)    # set on the target, once nvcc has been asked what it knows
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

if(VSCAN_CUDA_ARCHITECTURES)
  set(architectures ${VSCAN_CUDA_ARCHITECTURES})
else()
  # Machine code for every major architecture from sm_75 (a minor one runs that of its major), and
  # PTX of the newest for GPUs to come.
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code
                  OUTPUT_VARIABLE known COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "sm_[0-9]+" known "${known}")
  foreach(architecture 75 80 90 100 120)
    if("sm_${architecture}" IN_LIST known)
      list(APPEND architectures ${architecture}-real)
      set(newest ${architecture})
    endif()
  endforeach()
  list(APPEND architectures ${newest}-virtual)
  # With what only sm_90 has: kernels/machine/tma.cuh shares registers out by role.
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.0)
    list(TRANSFORM architectures REPLACE "^90-real$" "90a-real")
  endif()
endif()

file(STRINGS ${CUDAToolkit_INCLUDE_DIRS}/cuda_runtime_api.h runtime REGEX "^#define CUDART_VERSION ")
string(REGEX REPLACE ".* ([0-9]+)0([0-9]+)0$" "\\1.\\2" runtime "${runtime}")
set(vscan_driver 580) # as lib/cuda/device.c says
if(runtime VERSION_LESS 13)
  set(vscan_driver 525)
endif()
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --help OUTPUT_VARIABLE help)
if(help MATCHES "--compress-mode") # CUDA 12.8 and later
  set(compress -compress-mode=size)
  if(runtime VERSION_LESS 13) # is for drivers from 525 on, and those before 550 cannot read Zstandard
    set(compress -compress-mode=speed -Xfatbin=-compress-all)
  endif()
endif()
if(help MATCHES "--objdir-as-tempdir") # CUDA 11.6 and later
  # The names of its files in /tmp, which have its process's number, would get into objects.
  set(reproducible -objtemp)
endif()

include(cmake/kernels.cmake) # sets objects and kernels
add_library(vscan_kernels OBJECT ${objects} ${kernels}) # the longest first
set_target_properties(vscan_kernels PROPERTIES
  CUDA_ARCHITECTURES "${architectures}"
  CUDA_VISIBILITY_PRESET hidden
  POSITION_INDEPENDENT_CODE ON)
target_include_directories(vscan_kernels PRIVATE kernels lib include)
target_compile_definitions(vscan_kernels PRIVATE VSCAN_BUILDING)
# The host code must need no C++ runtime, and neither side may contract a * b + c: see lib/core/order.h.
list(JOIN vscan_hardening "," hardening)
target_compile_options(vscan_kernels PRIVATE
  --fmad=false ${compress} ${reproducible} -Xcompiler=${hardening}
  -Xcompiler=-Wall,-ffp-contract=off,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)

string(REPLACE ";" " " text "${architectures}")
if(NOT CMAKE_CUDA_COMPILER_VERSION MATCHES "^${runtime}\\.") # cmake/cuda12.sh
  string(PREPEND text "runtime ${runtime}, ")
endif()
set(VSCAN_BACKENDS "CPU and CUDA (nvcc ${CMAKE_CUDA_COMPILER_VERSION}, ${text})" CACHE INTERNAL "")
message(STATUS "Backends: ${VSCAN_BACKENDS}")
