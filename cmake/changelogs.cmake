# SPDX-License-Identifier: Apache-2.0
# Run by CPack on what it is about to pack: Debian's packages have a changelog of Debian's form, compressed man
# pages, an entry of doc-base, and no licence that every Debian has.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH decides
file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man*/*)
if(pages)
  execute_process(COMMAND gzip -9n ${pages})
endif()
file(GLOB html ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/libvscan/html)
if(html)
  file(WRITE ${html}/../../../doc-base/libvscan-doc.libvscan
"Document: libvscan
Title: libvscan's manual
Author: libvscan maintainers
Abstract: Every function of libvscan, a library of prefix scans.
Section: Programming/C

Format: HTML
Index: /usr/share/doc/libvscan/html/index.html
Files: /usr/share/doc/libvscan/html/*.html
")
endif()
file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/libvscan?*)
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
  file(GLOB pages ${folder}/*.md) # whose links follow
  foreach(page ${pages})
    file(READ ${page} text)
    string(REPLACE "(CHANGELOG.md)" "(changelog.gz)" text "${text}")
    string(REPLACE "(../../licenses/vscan/LICENSE)" "(../../common-licenses/Apache-2.0)" text "${text}")
    file(WRITE ${page} "${text}")
  endforeach()
endforeach()
file(GLOB licences ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/licenses)
if(licences)
  file(REMOVE_RECURSE ${licences})
endif()
