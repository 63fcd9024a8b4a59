# The library for live processes, in the component ipc, which needs libuv: find_package(gcdumpc REQUIRED COMPONENTS ipc).
if(GCDUMPC_IPC)
    set_target_properties(gcdumpc_ipc PROPERTIES EXPORT_NAME ipc)
    install(TARGETS gcdumpc_ipc EXPORT gcdumpc-ipc-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ipc)
    install(EXPORT gcdumpc-ipc-targets NAMESPACE gcdumpc:: DESTINATION ${package} COMPONENT ipc)
    install(FILES include/gcdumpc/ipc.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gcdumpc COMPONENT ipc)
endif()
# The program, its documents and its samples.  Links among the documents are those of the installed files.
set(doc ${CMAKE_INSTALL_DOCDIR})
install(TARGETS gcdumpc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY tools/unattended tools/container tools/ci DESTINATION ${doc}/examples COMPONENT program
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ PATTERN "*.md" EXCLUDE)
include(tools/cmake/installed-documents.cmake)
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/documents/ DESTINATION ${doc} COMPONENT program
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
# The samples call the program where this installation has it; the prefix is known when it is installed.
install(CODE "set(gcdumpc_bin \"${CMAKE_INSTALL_BINDIR}\")\nset(gcdumpc_doc \"${doc}\")" COMPONENT program)
install(SCRIPT tools/cmake/installed-samples.cmake COMPONENT program)
