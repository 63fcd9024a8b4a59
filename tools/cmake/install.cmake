# What "cmake --install" and the packages contain, in three components: program (with its manual), library, development.
include(CMakePackageConfigHelpers)
set(doc ${CMAKE_INSTALL_DOCDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gcdumpc)

install(TARGETS gcdumpc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(FILES README.md DESTINATION ${doc} COMPONENT program)
install(DIRECTORY tools/unattended tools/container tools/ci DESTINATION ${doc}/examples COMPONENT program
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
# The samples call the program where this installation has it; the prefix is known when it is installed.
install(CODE "set(gcdumpc_bin \"${CMAKE_INSTALL_BINDIR}\")\nset(gcdumpc_doc \"${doc}\")" COMPONENT program)
install(SCRIPT tools/cmake/installed-samples.cmake COMPONENT program)

if(NOT GCDUMPC_STATIC)
    install(TARGETS gcdumpc_shared EXPORT gcdumpc-shared-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
    install(EXPORT gcdumpc-shared-targets NAMESPACE gcdumpc:: DESTINATION ${package} COMPONENT development)
endif()
install(TARGETS gcdumpc_static EXPORT gcdumpc-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT gcdumpc-static-targets NAMESPACE gcdumpc:: DESTINATION ${package} COMPONENT development)
# ipc.h belongs to the program, because the library does not use libuv
install(DIRECTORY include/gcdumpc ${CMAKE_CURRENT_BINARY_DIR}/include/gcdumpc
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "ipc.h" EXCLUDE)
install(DIRECTORY tools/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgcdumpc-dev/examples COMPONENT development)

configure_package_config_file(tools/cmake/gcdumpc-config.cmake.in gcdumpc-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(gcdumpc-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gcdumpc-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/gcdumpc-config-version.cmake
    DESTINATION ${package} COMPONENT development)
# The prefix relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH GCDUMPC_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" GCDUMPC_PC_PREFIX "${GCDUMPC_PC_PREFIX}")
set(GCDUMPC_PC_REQUIRES zlib)
if(GCDUMPC_SQLITE)
    string(APPEND GCDUMPC_PC_REQUIRES ", sqlite3")
endif()
configure_file(tools/cmake/gcdumpc.pc.in gcdumpc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gcdumpc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
