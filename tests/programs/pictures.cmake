# SPDX-License-Identifier: Apache-2.0
# Tests of the programs that read pictures, summed_area, equalise and grey_picture, with files. CMake writes
# these, so all their bytes are letters.
set(pictures ${CMAKE_CURRENT_BINARY_DIR}/pictures)

# picture_becomes(NAME CASE PICTURE RESULT ARGUMENT...): the file that the program writes is RESULT.
function(picture_becomes name case picture result)
  set(file ${pictures}/${name}_${case})
  file(WRITE ${file} "${picture}")
  file(WRITE ${file}.expected "${result}")
  foreach(backend cpu cuda)
    set(test program.${name}.${case}.${backend})
    add_test(NAME ${test} COMMAND sh -c [["$0" "$1" "$2" $4 && cmp "$2" "$3"]]
                                  $<TARGET_FILE:${name}> ${file} ${file}.${backend}
                                  ${file}.expected ${ARGN})
    set_tests_properties(${test} PROPERTIES
      ENVIRONMENT VSCAN_BACKEND=${backend} TIMEOUT 300 SKIP_RETURN_CODE 77)
    if(backend STREQUAL "cuda")
      set_tests_properties(${test} PROPERTIES RESOURCE_LOCK cuda)
    endif()
  endforeach()
endfunction()

picture_becomes(summed_area binary "P5 4 2 255\nabcdefgh" "P5\n4 2\n255\nabcdefgh" 0)
picture_becomes(summed_area comments "P5#P5\n#1\n4 # 1 2 3\n2\n255\nab#defgh"
                "P5\n4 2\n255\nab#defgh" 0)
picture_becomes(summed_area plain "P2\n3 2\n255\n97 98 99\n# a, b, c\n100 101\t102\n"
                "P5\n3 2\n255\nabcdef" 0)
picture_becomes(summed_area two_bytes "P5 3 1 65535 aabbcc" "P5\n3 1\n65535\naabbcc" 0)
picture_becomes(summed_area means "P5 3 3 255 acegikmoq" "P5\n3 3\n255\nefghijklm" 1)
picture_becomes(summed_area one_mean "P5 3 3 255 acegikmoq" "P5\n3 3\n255\niiiiiiiii" 1000000)
picture_becomes(grey_picture plain "P3 3 1 255 100 100 100 255 0 0 200 50 50" "P5\n3 1\n255\ndL^")
picture_becomes(grey_picture binary "P6 2 1 255 dddabc" "P5\n2 1\n255\nda")

# picture_refused(NAME CASE PICTURE SENTENCE ARGUMENT...)
function(picture_refused name case picture sentence)
  file(WRITE ${pictures}/${name}_${case} "${picture}")
  program_refuses(${name} ${case} "${sentence}" ${pictures}/${name}_${case} ${pictures}/out ${ARGN})
endfunction()

# names_refused(NAME): other files and arguments.
function(names_refused name)
  set(good ${pictures}/${name}_binary)
  program_refuses(${name} no_file "absent.pgm cannot be opened: .*" absent.pgm ${pictures}/out)
  program_refuses(${name} folder ".*pictures cannot be read: .*" ${pictures} ${pictures}/out)
  program_refuses(${name} one_file "n is not a number: \"absent.pgm\"" absent.pgm)
  program_refuses(${name} no_folder "absent/out cannot be opened: .*" ${good} absent/out)
  program_refuses(${name} full ".*full cannot be written: .*" ${good} /dev/full)
  program_refuses(${name} more_files "usage: .*" ${good} ${pictures}/out 1 2)
endfunction()

# formats_refused(NAME FORMAT PLAIN BINARY OTHER): pictures that are not as the format has it.
function(formats_refused name format plain binary other)
  set(no ".* is no ${format} picture: ")
  set(magic "${no}it does not begin with ${plain} or ${binary}")
  picture_refused(${name} empty "" "${magic}")
  picture_refused(${name} other "${other} 1 1 255 abc" "${magic}")
  picture_refused(${name} no_break "${binary}1 1 255 abc" "${magic}")
  set(sides "${no}its width and height are not .*")
  picture_refused(${name} no_size "${binary}\n" "${sides}")
  picture_refused(${name} no_width "${binary} 0 1 255 abc" "${sides}")
  picture_refused(${name} negative_height "${plain} 3 -1 255 1 1 1" "${sides}")
  picture_refused(${name} larger "${plain} 9999999999 1 255 1 1 1" "${sides}")
  picture_refused(${name} large "${plain} 99999 99999 255 1 1 1" "${no}it is too large .*")
  set(range "${no}its maximum is no number from 1 to 65535")
  picture_refused(${name} no_maximum "${binary} 1 1" "${range}")
  picture_refused(${name} maximum_zero "${binary} 1 1 0 abc" "${range}")
  picture_refused(${name} maximum_above "${plain} 1 1 65536 1 1 1" "${range}")
  picture_refused(${name} no_space "${binary} 1 1 255" "${no}no space follows its maximum")
  set(ends "${no}it ends before its last sample")
  picture_refused(${name} short "${binary} 5 2 255 abcdefghi" "${ends}")
  picture_refused(${name} short_words "${binary} 2 2 256 abcdefg" "${ends}")
  picture_refused(${name} few "${plain} 2 2 255 1 2 3" "${ends}")
  set(sample "${no}a sample is missing, is no number, or is above the maximum")
  picture_refused(${name} fewer "${plain} 2 2 255 1 2 3\n# 0 0 0 0 0 0 0 0 0 0 0 0" "${sample}")
  picture_refused(${name} letter "${plain} 1 1 255 x x x x" "${sample}")
  picture_refused(${name} above "${plain} 1 1 9 10 1 1 1" "${sample}")
  picture_refused(${name} byte_above "${binary} 2 1 97 ababab" "${no}a sample is above the maximum")
endfunction()

picture_becomes(equalise binary "P5 4 2 255\naaaaaaaa" "P5\n4 2\n255\naaaaaaaa") # of one level

formats_refused(summed_area PGM P2 P5 P6)
formats_refused(equalise PGM P2 P5 P6)
formats_refused(grey_picture PPM P3 P6 P5)
names_refused(summed_area)
names_refused(equalise)
names_refused(grey_picture)

set(good ${pictures}/summed_area_binary)
program_refuses(summed_area bad_radius "radius is not a number: \"2r\"" ${good} ${pictures}/out 2r)
program_refuses(summed_area negative_radius "radius is not in 0 .. .*" ${good} ${pictures}/out -1)
string(REPEAT "a" 80000 row)
picture_refused(summed_area large_box "P5 40000 1 65535 ${row}"
                "radius is too large: the sum over a box must fit in 31 bits" 20000)
