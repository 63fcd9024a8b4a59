# Manual pages and shell completions.  tools/manual prints the pages from the tables of the program, tools/man adds the prose; the program prints
# the completions.
option(GCDUMPC_MANUAL "Manual pages and completions (runs what was built)" ON)
if(NOT GCDUMPC_MANUAL OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
    return()
endif()

set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
set(manual_files)
set(manual_program $<TARGET_FILE:gcdumpc>)
if(CMAKE_CROSSCOMPILING)
    set(manual_program "${CMAKE_CROSSCOMPILING_EMULATOR};${manual_program}")
endif()
# The program with another main.
add_executable(gcdumpc_manual EXCLUDE_FROM_ALL tools/manual/man_page.c tools/manual/man_text.c
    $<TARGET_OBJECTS:gcdumpc_cli> $<TARGET_OBJECTS:gcdumpc_obj>)
foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_LIBRARIES LINK_OPTIONS POSITION_INDEPENDENT_CODE)
    get_target_property(value gcdumpc ${property})
    if(value)
        set_property(TARGET gcdumpc_manual PROPERTY ${property} ${value})
    endif()
endforeach()
set_property(TARGET gcdumpc_manual APPEND PROPERTY INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
set(page_program $<TARGET_FILE:gcdumpc_manual>)
if(CMAKE_CROSSCOMPILING)
    set(page_program "${CMAKE_CROSSCOMPILING_EMULATOR};${page_program}")
endif()
find_program(GCDUMPC_GZIP gzip)
# Debian reserves site-functions for the administrator.
set(zsh_functions zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL /usr AND EXISTS /etc/debian_version)
    set(zsh_functions zsh/vendor-completions)
endif()

# Makes the page for PROSE (tools/man/NAME.SECTION), joined with what the program prints about TOPIC.
function(gcdumpc_page prose topic)
    get_filename_component(name ${prose} NAME)
    string(REGEX REPLACE ".*\\." "" section ${name})
    set(file ${manual}/man${section}/${name})
    add_custom_command(OUTPUT ${file}
        COMMAND ${CMAKE_COMMAND} -D "PROGRAM=${page_program}" -D TOPIC=${topic} -D PROSE=${prose} -D OUTPUT=${file} -D GZIP=${GCDUMPC_GZIP}
                -P ${CMAKE_CURRENT_SOURCE_DIR}/tools/cmake/man-page.cmake
        DEPENDS gcdumpc_manual ${prose} tools/cmake/man-page.cmake VERBATIM)
    set(manual_files ${manual_files} ${file} PARENT_SCOPE)
    install(FILES ${file}$<$<BOOL:${GCDUMPC_GZIP}>:.gz> DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT program)
endfunction()

# Makes a completion; FILE is the name that SHELL expects.
function(gcdumpc_completion shell file folder)
    set(output ${manual}/${shell}/${file})
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D "PROGRAM=${manual_program}" -D FORMAT=${shell} -D OUTPUT=${output}
                -P ${CMAKE_CURRENT_SOURCE_DIR}/tools/cmake/man-page.cmake
        DEPENDS gcdumpc tools/cmake/man-page.cmake VERBATIM)
    set(manual_files ${manual_files} ${output} PARENT_SCOPE)
    install(FILES ${output} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT program)
endfunction()

# gcdumpc-COMMAND.1, gcdumpc-TOPIC.5, gcdumpc-TOPIC.7, gcdumpc.TOPIC.5
file(GLOB pages CONFIGURE_DEPENDS tools/man/gcdumpc*.[157])
foreach(page ${pages})
    get_filename_component(name ${page} NAME)
    string(REGEX REPLACE "^gcdumpc[-.]?(.*)\\.?[157]$" "\\1" topic ${name})
    string(REGEX REPLACE "\\.$" "" topic "${topic}")
    gcdumpc_page(${page} "${topic}")
endforeach()
gcdumpc_completion(bash gcdumpc bash-completion/completions)
gcdumpc_completion(zsh _gcdumpc ${zsh_functions})
gcdumpc_completion(fish gcdumpc.fish fish/vendor_completions.d)
add_custom_target(manual ALL DEPENDS ${manual_files})
