# The API reference: "cmake --build BUILD --target reference" writes reference/html from the public headers.
find_program(GCDUMPC_DOXYGEN doxygen)
find_package(Python3 COMPONENTS Interpreter)
if(GCDUMPC_DOXYGEN AND Python3_FOUND)
    configure_file(tools/doxygen/Doxyfile.in Doxyfile @ONLY)
    add_custom_target(reference COMMAND ${CMAKE_COMMAND} -E make_directory reference COMMAND ${GCDUMPC_DOXYGEN} Doxyfile VERBATIM)
endif()
