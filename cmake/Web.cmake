# web/dist, when it has been built, becomes part of the program: gen/web_assets.cc, which http compiles. A new build of
# the page is taken up by the next build of the program; without one the table is empty.
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/dist/*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/gen/web_assets.cc
  COMMAND ${PYTHON3} -B ${CMAKE_SOURCE_DIR}/tools/embed_web.py ${CMAKE_SOURCE_DIR}/web/dist
    ${CMAKE_BINARY_DIR}/gen/web_assets.cc ${CMAKE_BINARY_DIR}/gen/web
  DEPENDS ${web_files} ${CMAKE_SOURCE_DIR}/tools/embed_web.py
  COMMENT "Page")
target_sources(ty_http PRIVATE ${CMAKE_BINARY_DIR}/gen/web_assets.cc)
