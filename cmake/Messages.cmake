# messages/*.json -> gen/messages.h and .cc (one struct an id; compiled into base) and gen/catalogue.inc (the texts).
find_program(PYTHON3 NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
set(message_files ${CMAKE_SOURCE_DIR}/messages/en.json ${CMAKE_SOURCE_DIR}/messages/zh-CN.json)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/gen/messages.h ${CMAKE_BINARY_DIR}/gen/messages.cc ${CMAKE_BINARY_DIR}/gen/catalogue.inc
  COMMAND ${PYTHON3} ${CMAKE_SOURCE_DIR}/tools/messages.py ${message_files} ${CMAKE_BINARY_DIR}/gen
  DEPENDS ${message_files} ${CMAKE_SOURCE_DIR}/tools/messages.py
  COMMENT "Messages")
add_custom_target(messages DEPENDS ${CMAKE_BINARY_DIR}/gen/messages.h ${CMAKE_BINARY_DIR}/gen/messages.cc ${CMAKE_BINARY_DIR}/gen/catalogue.inc)
