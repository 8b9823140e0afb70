# SPDX-License-Identifier: Apache-2.0
# Run by CPack on what it is about to pack: Debian's packages have a changelog of Debian's form, and no
# licence that every Debian has.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH decides
file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*)
foreach(folder ${folders})
  get_filename_component(name ${folder} NAME)
  file(WRITE ${folder}/changelog.Debian
"libvscan (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * The changelog of libvscan-dev lists the changes.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  execute_process(COMMAND gzip -9n changelog.Debian WORKING_DIRECTORY ${folder})
  if(EXISTS ${folder}/CHANGELOG.md)
    file(RENAME ${folder}/CHANGELOG.md ${folder}/changelog)
    execute_process(COMMAND gzip -9n changelog WORKING_DIRECTORY ${folder})
  endif()
endforeach()
file(GLOB licences ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/licenses)
if(licences)
  file(REMOVE_RECURSE ${licences})
endif()
