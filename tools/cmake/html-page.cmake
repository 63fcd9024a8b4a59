# Builds three compressed C arrays from src/write/html/page: the page before its no-script part, between that part and the data, and after the
# data.
#
#     cmake -D SOURCE=src/write/html/page -D OUTPUT=html_page.c -P html-page.cmake
#
# The style sheet replaces @STYLE@ in page.html, the script (main.js with all modules it imports) replaces @SCRIPT@.  When a page is written, the
# data replace @DATA@ and the no-script part replaces @PLAIN@.  The page's content security policy allows only this style sheet and this script,
# by their digests, so no text from a dump can run as a script.
cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/page-script.cmake)

# The SHA-256 of TEXT in base64, as a content security policy needs it.
function(digest text result)
    string(SHA256 hex "${text}")
    string(APPEND hex "00")              # 33 bytes give 44 digits; the last one only encodes the padding
    set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
    set(base64 "")
    foreach(at RANGE 0 60 6)
        string(SUBSTRING ${hex} ${at} 6 three)
        foreach(shift 18 12 6 0)
            math(EXPR digit "(0x${three} >> ${shift}) & 63")
            string(SUBSTRING ${digits} ${digit} 1 digit)
            string(APPEND base64 ${digit})
        endforeach()
    endforeach()
    string(SUBSTRING ${base64} 0 43 base64)
    set(${result} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

# TEXT, compressed by gzip, as the array NAME and its size.  A fixed header replaces the one with the time, so that builds are reproducible.
function(array name text result)
    file(WRITE ${OUTPUT}.part "${text}")
    file(ARCHIVE_CREATE OUTPUT ${OUTPUT}.part.gz PATHS ${OUTPUT}.part FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
    file(READ ${OUTPUT}.part.gz hex HEX)
    file(REMOVE ${OUTPUT}.part ${OUTPUT}.part.gz)
    string(SUBSTRING "${hex}" 6 2 flags)
    if(NOT flags STREQUAL "00")
        message(FATAL_ERROR "gzip headers with more than a time are not expected")
    endif()
    string(SUBSTRING "${hex}" 20 -1 hex)
    string(PREPEND hex "1f8b0800000000000003")
    string(LENGTH "${hex}" digits)
    math(EXPR bytes "${digits} / 2")
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    set(${result} "const unsigned char ${name}[] = {\n${hex}\n};\nconst size_t ${name}_bytes = ${bytes};\n" PARENT_SCOPE)
endfunction()

# CMake treats brackets and semicolons as list syntax, so texts are always quoted.
file(READ ${SOURCE}/page.html page)
file(READ ${SOURCE}/style.css style)
string(REGEX REPLACE "\n +" "\n" style "${style}")
page_script(${SOURCE} main.js script)
digest("${style}" style_digest)
digest("${script}" script_digest)
string(REPLACE "@POLICY@" "default-src 'none'; style-src '${style_digest}'; script-src '${script_digest}'; base-uri 'none'; form-action 'none'"
       page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(FIND "${page}" "@PLAIN@" at)
string(SUBSTRING "${page}" 0 ${at} head)
math(EXPR at "${at} + 7")
string(SUBSTRING "${page}" ${at} -1 page)
string(FIND "${page}" "@DATA@" at)
string(SUBSTRING "${page}" 0 ${at} middle)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 tail)
array(html_page_head "${head}" head)
array(html_page_middle "${middle}" middle)
array(html_page_tail "${tail}" tail)
file(WRITE ${OUTPUT} "#include \"write/html/html_page.h\"\n\n${head}\n${middle}\n${tail}")
