# Writes a manual page or a completion with the text that PROGRAM prints, which may be a list that begins with an emulator.
#
#     cmake -D PROGRAM=gcdumpc_manual -D TOPIC=report -D PROSE=tools/man/gcdumpc-report.1 -D OUTPUT=gcdumpc-report.1 [-D GZIP=gzip] -P man-page.cmake
#     cmake -D PROGRAM=gcdumpc -D FORMAT=bash -D OUTPUT=gcdumpc -P man-page.cmake
cmake_minimum_required(VERSION 3.25)
if(FORMAT)
    set(TOPIC completion ${FORMAT})
endif()
execute_process(COMMAND ${PROGRAM} ${TOPIC} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
if(NOT FORMAT)
    file(READ ${PROSE} prose)
    string(REPLACE ".\\\" PROSE\n" "${prose}" text "${text}")
endif()
file(WRITE ${OUTPUT} "${text}")
if(GZIP)
    # -n: without a time stamp
    execute_process(COMMAND ${GZIP} -9nkf ${OUTPUT} COMMAND_ERROR_IS_FATAL ANY)
endif()
