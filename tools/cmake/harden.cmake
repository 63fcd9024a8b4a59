# GCDUMPC_HARDEN: flags that turn a remaining defect into a crash instead of an exploit.  Each flag is used only if compiler and linker know it.
# Builds with sanitizers leave out _FORTIFY_SOURCE, which would hide their own checks.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckCSourceRuns)
include(CheckLinkerFlag)
include(CheckPIESupported)

check_linker_flag(C -static-pie GCDUMPC_HAS_STATIC_PIE)
# Packed relocations save 90 to 100 KB, but the C library must support them (glibc 2.36, musl 1.2.4), also where the program runs: a static one
# relocates itself.
if((GCDUMPC_HAS_STATIC_PIE OR NOT GCDUMPC_STATIC) AND NOT CMAKE_CROSSCOMPILING)
    if(GCDUMPC_STATIC)
        set(pie -static-pie)
    else()
        set(pie -pie)
    endif()
    set(CMAKE_REQUIRED_FLAGS "-fPIE")
    set(CMAKE_REQUIRED_LINK_OPTIONS ${pie} -Wl,--fatal-warnings -Wl,-z,pack-relative-relocs)
    check_c_source_runs("static int a, b; int *const volatile table[] = { &a, &b, &a };
        int main(void) { return !(table[0] == &a && table[1] == &b && table[2] == &a); }" GCDUMPC_HAS_PACKED_RELOCATIONS)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# -fcf-protection works only if the start files of the C library have it, too (not in Debian 12), so no document promises it
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
    string(MAKE_C_IDENTIFIER "GCDUMPC_HAS${flag}" known)
    check_c_compiler_flag("-Werror ${flag}" ${known})
    if(${known})
        target_compile_options(gcdumpc_flags INTERFACE ${flag})
    endif()
endforeach()

foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    string(MAKE_C_IDENTIFIER "GCDUMPC_HAS${flag}" known)
    check_linker_flag(C ${flag} ${known})
    if(${known})
        target_link_options(gcdumpc_flags INTERFACE ${flag})
    endif()
endforeach()

if(NOT GCDUMPC_SANITIZE)
    # Level 3 needs gcc 12 or clang 16, and glibc 2.34; otherwise glibc emits a #warning.
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <string.h>
        #if defined __clang_major__ && __clang_major__ < 16
        #error takes 2
        #endif
        int main(void) { return 0; }" GCDUMPC_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    if(GCDUMPC_HAS_FORTIFY_3)
        set(fortify 3)
    else()
        set(fortify 2)
    endif()
    # It has no effect without optimisation.  Some distributions predefine it.
    target_compile_options(gcdumpc_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=${fortify}>)
endif()
