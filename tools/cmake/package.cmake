# "cpack -G DEB" makes three packages from a build with CMAKE_INSTALL_PREFIX=/usr, "cpack -G TGZ" one archive.  tools/package/build.sh runs both.
set(CPACK_PACKAGE_CONTACT "gcdumpc developers <gcdumpc@users.noreply.github.com>" CACHE STRING "Maintainer of the packages")
set(GCDUMPC_PACKAGE_VERSION ${PROJECT_VERSION}-1)
set(package_files ${CMAKE_CURRENT_BINARY_DIR}/package)

# Copyright and changelog of each package, as Debian requires them
execute_process(COMMAND date -u -R -d ${GCDUMPC_DATE} OUTPUT_VARIABLE GCDUMPC_CHANGELOG_DATE OUTPUT_STRIP_TRAILING_WHITESPACE)
configure_file(tools/package/changelog.in ${package_files}/changelog.Debian @ONLY)
configure_file(CHANGELOG.md ${package_files}/changelog COPYONLY)
execute_process(COMMAND ${CMAKE_COMMAND} -D LICENSE=${CMAKE_CURRENT_SOURCE_DIR}/LICENSE -D OUTPUT=${package_files}/copyright
    -P ${CMAKE_CURRENT_SOURCE_DIR}/tools/package/copyright.cmake COMMAND_ERROR_IS_FATAL ANY)
set(package_docs ${package_files}/copyright)
if(GCDUMPC_GZIP)
    execute_process(COMMAND ${GCDUMPC_GZIP} -9nkf ${package_files}/changelog.Debian ${package_files}/changelog COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND package_docs ${package_files}/changelog.Debian.gz ${package_files}/changelog.gz)
endif()

set(CPACK_PACKAGE_NAME gcdumpc)
set(CPACK_PACKAGE_VENDOR "gcdumpc developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_PACKAGE_FILE_NAME gcdumpc-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
# Folders in a package have mode 0755, whatever the umask.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
if(FOREIGN_PACKAGE)     # for tools/cross: dpkg does not know the libraries of the other architecture, but they are in the same packages
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${FOREIGN_PACKAGE})
    set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${FOREIGN_DEPENDS_PROGRAM}")
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${FOREIGN_DEPENDS_LIBRARY}")
else()
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME gcdumpc)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Makes a .NET process describe its heap over its diagnostic socket, or reads
a recording of that, and turns it into tables and into files that other
programs open.  It needs no .NET on the machine.")
if(NOT GCDUMPC_STATIC)
    list(APPEND CPACK_COMPONENTS_ALL library)
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libgcdumpc${PROJECT_VERSION_MAJOR})
    set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/tools/package/without-scripts.cmake)
    file(WRITE ${package_files}/triggers "activate-noawait ldconfig\n")
    file(WRITE ${package_files}/shlibs "libgcdumpc ${PROJECT_VERSION_MAJOR} ${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (>= ${PROJECT_VERSION})\n")
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${package_files}/triggers ${package_files}/shlibs)
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
    set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Library that reads recordings and dumps of .NET heaps, analyses them and
writes them in other formats.  Prints nothing, has no global state.")
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${GCDUMPC_PACKAGE_VERSION}), zlib1g-dev")
else()
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS zlib1g-dev)
endif()
if(GCDUMPC_SQLITE)
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libsqlite3-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgcdumpc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, the static library, pkg-config file, CMake package and examples of
libgcdumpc.")

foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    install(FILES ${package_docs} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component})
endforeach()
include(CPack)
