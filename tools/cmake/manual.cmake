# Manual pages and shell completions.  The program prints them; tools/man adds the prose.
option(GCDUMPC_MANUAL "Manual pages and completions (runs the program that was built)" ON)
if(NOT GCDUMPC_MANUAL OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
    return()
endif()

set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
set(manual_files)
set(manual_program $<TARGET_FILE:gcdumpc>)
if(CMAKE_CROSSCOMPILING)
    set(manual_program "${CMAKE_CROSSCOMPILING_EMULATOR};${manual_program}")
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
        COMMAND ${CMAKE_COMMAND} -D "PROGRAM=${manual_program}" -D TOPIC=${topic} -D PROSE=${prose} -D OUTPUT=${file} -D GZIP=${GCDUMPC_GZIP}
                -P ${CMAKE_CURRENT_SOURCE_DIR}/tools/cmake/man-page.cmake
        DEPENDS gcdumpc ${prose} tools/cmake/man-page.cmake VERBATIM)
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
