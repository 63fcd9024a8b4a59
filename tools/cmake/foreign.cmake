# Toolchain for another Debian architecture: -D FOREIGN_TRIPLE=s390x-linux-gnu (or i386-linux-gnu) and -D FOREIGN_ROOT=FOLDER, which
# tools/analyse/foreign-root.sh fills.  Compiler and C library are Debian's cross packages.  The programs contain the paths of their loader and
# libraries, so they run with only the emulator; i386 programs need no emulator.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FOREIGN_TRIPLE FOREIGN_ROOT)
if(FOREIGN_TRIPLE STREQUAL "i386-linux-gnu")     # Debian's two names for it
    set(foreign_tools i686-linux-gnu)
    set(foreign_loader ld-linux.so.2)
    set(CMAKE_SYSTEM_PROCESSOR i686)
else()
    set(foreign_tools ${FOREIGN_TRIPLE})
    set(foreign_loader ld64.so.1)
    set(CMAKE_SYSTEM_PROCESSOR s390x)
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x)
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${foreign_tools}-gcc)
set(foreign_lib /usr/${foreign_tools}/lib)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--dynamic-linker=${foreign_lib}/${foreign_loader} -Wl,--disable-new-dtags")
# RPATH, not RUNPATH, because it also applies to libraries that a library needs.
set(CMAKE_BUILD_RPATH ${FOREIGN_ROOT}/usr/lib/${FOREIGN_TRIPLE} ${foreign_lib})
set(CMAKE_LIBRARY_ARCHITECTURE ${FOREIGN_TRIPLE})
set(CMAKE_FIND_ROOT_PATH ${FOREIGN_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FOREIGN_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${FOREIGN_ROOT}/usr/lib/${FOREIGN_TRIPLE}/pkgconfig)
