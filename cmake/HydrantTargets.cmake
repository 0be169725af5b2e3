# hydrant_library(NAME SOURCES … LINK … [PRIVATE_LINK …]): the library of one folder. Includes are from the project's root.
function(hydrant_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARG_LINK})
  endif()
endfunction()

# hydrant_program(NAME SOURCES … LINK …): one program, in build/bin.
function(hydrant_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_compile_definitions(${name} PRIVATE HYDRANT_VERSION="${PROJECT_VERSION}")
endfunction()

# hydrant_test(NAME LABEL … SOURCES … LINK …): one gtest program, one ctest entry, found by `tests/run -L LABEL`.
# Unit tests of a folder are one program, so that they link once.
function(hydrant_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABEL;SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test-bin)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock_main)
  if(NOT HYDRANT_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)  # gmock's templates cost more to optimise than the tests take to run
  endif()
  target_compile_definitions(${name} PRIVATE HYDRANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    HYDRANT_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# hydrant_script_test(NAME LABEL … COMMAND …): a script as a ctest entry.
function(hydrant_script_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABEL;COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "HYDRANT_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};HYDRANT_BUILD_DIR=${CMAKE_BINARY_DIR}")
endfunction()
