# What "cmake --install" and the packages contain of the library, in two components: library, development.  install-program.cmake has the third.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gcdumpc)

if(TARGET gcdumpc_shared)
    install(TARGETS gcdumpc_shared EXPORT gcdumpc-shared-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
    install(EXPORT gcdumpc-shared-targets NAMESPACE gcdumpc:: DESTINATION ${package} COMPONENT development)
    install(CODE "set(gcdumpc_lib \"${CMAKE_INSTALL_LIBDIR}\")" COMPONENT library)
    install(SCRIPT tools/cmake/installed-library.cmake COMPONENT library)
endif()
install(TARGETS gcdumpc_static EXPORT gcdumpc-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT gcdumpc-static-targets NAMESPACE gcdumpc:: DESTINATION ${package} COMPONENT development)
# ipc.h belongs to the component ipc, which install-program.cmake has
install(DIRECTORY include/gcdumpc ${CMAKE_CURRENT_BINARY_DIR}/include/gcdumpc
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "ipc.h" EXCLUDE PATTERN "unstable" EXCLUDE)
install(DIRECTORY tools/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples/library COMPONENT development)

configure_package_config_file(tools/cmake/gcdumpc-config.cmake.in gcdumpc-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(gcdumpc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gcdumpc-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/gcdumpc-config-version.cmake
    DESTINATION ${package} COMPONENT development)
# The prefix relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH GCDUMPC_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" GCDUMPC_PC_PREFIX "${GCDUMPC_PC_PREFIX}")
set(GCDUMPC_PC_REQUIRES zlib)
if(GCDUMPC_SQLITE)
    string(APPEND GCDUMPC_PC_REQUIRES ", sqlite3")
endif()
if(GCDUMPC_ZSTD_TARGET)
    string(APPEND GCDUMPC_PC_REQUIRES ", libzstd")
endif()
set(GCDUMPC_PC_PRIVATE .private)
if(NOT TARGET gcdumpc_shared)           # who links the archive needs these
    set(GCDUMPC_PC_PRIVATE)
endif()
configure_file(tools/cmake/gcdumpc.pc.in gcdumpc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gcdumpc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
