# SPDX-License-Identifier: BSL-1.0
# QuintetHeaders: copies the public headers, and those that they include, to DESTINATION/{base,net,threadmodels,bus}.
# A script for `cmake --install`: cmake -DSOURCE_DIR=<Quintet> -DDESTINATION=<headers' folder> -P QuintetHeaders.cmake
cmake_minimum_required(VERSION 3.20)

file(GLOB headers RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/base/*.hpp ${SOURCE_DIR}/base/framing/*.hpp ${SOURCE_DIR}/net/*.hpp
  ${SOURCE_DIR}/threadmodels/*.hpp ${SOURCE_DIR}/bus/*.hpp)
set(unread ${headers})
while(unread)
  list(POP_FRONT unread header)
  get_filename_component(folder ${SOURCE_DIR}/${header} DIRECTORY)
  file(STRINGS ${SOURCE_DIR}/${header} includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^[^\"]*\"([^\"]+)\".*" "\\1" include "${include}")
    get_filename_component(include ${include} ABSOLUTE BASE_DIR ${folder})
    file(RELATIVE_PATH include ${SOURCE_DIR} ${include})
    if(NOT include IN_LIST headers)
      list(APPEND headers ${include})
      list(APPEND unread ${include})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${SOURCE_DIR}/${header} DESTINATION ${DESTINATION}/${folder})
endforeach()
