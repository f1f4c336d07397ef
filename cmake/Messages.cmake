# messages/*.json -> gen/msg/PREFIX.h (one struct an id), gen/messages.cc (compiled into base), gen/catalogue.inc (texts).
find_program(PYTHON3 NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
set(message_files ${CMAKE_SOURCE_DIR}/messages/en.json ${CMAKE_SOURCE_DIR}/messages/zh-CN.json)
# Each header must be known to the build, so a new message configures again; that takes a second.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/messages/en.json)
file(STRINGS ${CMAKE_SOURCE_DIR}/messages/en.json ids REGEX "^ *\"[a-z_]+\\.")
set(message_outputs ${CMAKE_BINARY_DIR}/gen/messages.h ${CMAKE_BINARY_DIR}/gen/messages.cc ${CMAKE_BINARY_DIR}/gen/catalogue.inc)
foreach(id ${ids})
  string(REGEX REPLACE "^ *\"([a-z_]+)\\..*" "\\1" prefix "${id}")
  list(APPEND message_outputs ${CMAKE_BINARY_DIR}/gen/msg/${prefix}.h)
endforeach()
list(REMOVE_DUPLICATES message_outputs)
add_custom_command(
  OUTPUT ${message_outputs}
  COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tools/messages.py ${message_files} ${CMAKE_BINARY_DIR}/gen
  DEPENDS ${message_files} ${CMAKE_SOURCE_DIR}/tools/messages.py
  COMMENT "Messages")
add_custom_target(messages DEPENDS ${message_outputs})
