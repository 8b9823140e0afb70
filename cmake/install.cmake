# SPDX-License-Identifier: Apache-2.0
# What is installed, in components: runtime, development, documentation (with man pages, where there was a
# Python), manual (HTML pages, examples), tools, ranks, ranks_development and mpi where they are built, and debug where
# that is asked for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vscan)

install(TARGETS vscan EXPORT vscanTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES include/vscan.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# libvscan.pc names its prefix relative to where it lies itself, so the prefix can be moved. Not so where it
# belongs to the system: pkg-config leaves out the system's own folders only by their plain names.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
file(RELATIVE_PATH pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(pc_libs_private "-pthread -lm") # for whoever links with the static library
if(vscan_with_cuda)
  string(APPEND pc_libs_private " -ldl -lrt")
endif()
function(install_pc folder name component)
  configure_file(${folder}/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
  install(CODE "
    if(CMAKE_INSTALL_PREFIX MATCHES \"^/usr(/local)?/?$\")
      set(pc \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${pc_libdir}/pkgconfig/${name}.pc\")
      file(READ \${pc} text)
      string(REPLACE [[${pc_prefix}]] \${CMAKE_INSTALL_PREFIX} text \"\${text}\")
      file(WRITE \${pc} \"\${text}\")
    endif()" COMPONENT ${component})
endfunction()
install_pc(. libvscan development)

# remove_rpath(FILE COMPONENT): what finds the library beside it does not do so by a path of its own where the system
# has the library.
function(remove_rpath file component)
  install(CODE "
    set(path \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")
    if(CMAKE_INSTALL_PREFIX MATCHES \"^/usr(/local)?/?$\" AND EXISTS \"\${path}\")
      file(RPATH_REMOVE FILE \"\${path}\")
    endif()" COMPONENT ${component})
endfunction()

if(VSCAN_RANKS)
  install(TARGETS vscan_ranks EXPORT vscanRanksTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ranks NAMELINK_COMPONENT ranks_development)
  remove_rpath(${CMAKE_INSTALL_LIBDIR}/libvscan_ranks.so.${PROJECT_VERSION} ranks)
  install(EXPORT vscanRanksTargets NAMESPACE vscan:: DESTINATION ${package_dir} COMPONENT ranks_development)
  install(FILES include/vscan_ranks.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ranks_development)
  install_pc(lib/ranks libvscan_ranks ranks_development)
endif()
if(vscan_with_mpi)
  install(TARGETS vscan_mpi EXPORT vscanMpiTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
  install(EXPORT vscanMpiTargets NAMESPACE vscan:: DESTINATION ${package_dir} COMPONENT mpi)
  install(FILES include/vscan_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT mpi)
  install_pc(lib/mpi libvscan_mpi mpi)
endif()

# vscan-info, which need not have been built.
if(VSCAN_TOOLS)
  file(RELATIVE_PATH libdir_from_bindir ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(vscan-info PROPERTIES INSTALL_RPATH "$ORIGIN/${libdir_from_bindir}")
  install(TARGETS vscan-info RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools OPTIONAL)
  install(FILES lib/info/vscan-info.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  remove_rpath(${CMAKE_INSTALL_BINDIR}/vscan-info tools)
endif()

configure_package_config_file(cmake/vscanConfig.cmake.in vscanConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(vscanConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vscanConfig.cmake ${PROJECT_BINARY_DIR}/vscanConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)
install(EXPORT vscanTargets NAMESPACE vscan:: DESTINATION ${package_dir} COMPONENT development)

# Licences lie where Debian looks for them, one for each of its packages (cmake/packages.cmake).
set(cudart_in_copyright)
if(vscan_with_cuda)
  file(READ cmake/copyright_cudart.txt cudart_in_copyright)
endif()
configure_file(cmake/copyright.in copyright @ONLY)
set(doc ${CMAKE_INSTALL_DATAROOTDIR}/doc)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/licenses/vscan COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/copyright
        DESTINATION ${doc}/libvscan${abi_version} COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${doc}/libvscan-dev COMPONENT development)
if(VSCAN_RANKS)
  install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${doc}/libvscan-ranks${abi_version} COMPONENT ranks)
endif()
install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${doc}/libvscan-tools COMPONENT tools)
install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${doc}/libvscan-doc COMPONENT manual)
install(DIRECTORY tests/programs/ DESTINATION ${doc}/libvscan/examples COMPONENT manual
        FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.py" PATTERN "README.md" PATTERN "data/*" PATTERN "mpi_*" EXCLUDE)
include(cmake/readme.cmake)

if(vscan_symbols)
  install(FILES ${PROJECT_BINARY_DIR}/copyright
          DESTINATION ${doc}/libvscan${abi_version}-dbgsym COMPONENT debug EXCLUDE_FROM_ALL)
  # lib/debug/.build-id/ab/cdef.debug
  install(CODE "
    execute_process(COMMAND \"${CMAKE_READELF}\" -n \"${vscan_symbols}\" OUTPUT_VARIABLE notes)
    string(REGEX MATCH \"Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)\" found \"\${notes}\")
    file(INSTALL \"${vscan_symbols}\" RENAME \"\${CMAKE_MATCH_2}.debug\"
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/\${CMAKE_MATCH_1}\")"
    COMPONENT debug EXCLUDE_FROM_ALL)
endif()
