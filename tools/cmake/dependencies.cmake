# What we link with.  With GCDUMPC_STATIC these are archives, so that the program is one file that needs nothing.
find_package(PkgConfig REQUIRED)
set(ZLIB_USE_STATIC_LIBS ${GCDUMPC_STATIC})
find_package(ZLIB REQUIRED)

# The pkg-config module NAME as the target PkgConfig::PREFIX; ARCHIVE is its static library without lib and .a, behind it what that needs.
function(gcdumpc_dependency prefix name archive)
    pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET GLOBAL ${name})
    if(GCDUMPC_STATIC)
        find_library(${prefix}_ARCHIVE lib${archive}.a REQUIRED)
        set_target_properties(PkgConfig::${prefix} PROPERTIES INTERFACE_LINK_LIBRARIES "${${prefix}_ARCHIVE};${ARGN}")
    endif()
endfunction()

gcdumpc_dependency(JANSSON jansson jansson)
gcdumpc_dependency(INIH inih inih)
if(GCDUMPC_SQLITE)
    gcdumpc_dependency(SQLITE sqlite3 sqlite3 m)
    set(GCDUMPC_SQLITE_TARGET PkgConfig::SQLITE)
endif()
if(GCDUMPC_IPC)
    gcdumpc_dependency(LIBUV libuv uv_a pthread dl rt)
endif()
