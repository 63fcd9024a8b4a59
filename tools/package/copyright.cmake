# Writes LICENSE in the form that Debian requires: cmake -D LICENSE=LICENSE -D OUTPUT=copyright -P copyright.cmake
cmake_minimum_required(VERSION 3.25)
file(READ ${LICENSE} text)
string(REGEX REPLACE "^MIT License\n+Copyright \\(c\\) ([^\n]*)\n+" "" terms "${text}")
set(holder "${CMAKE_MATCH_1}")
string(STRIP "${terms}" terms)
string(REPLACE "\n\n" "\n.\n" terms "${terms}")
string(REPLACE "\n" "\n " terms "${terms}")
file(WRITE ${OUTPUT} "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gcdumpc

Files: *
Copyright: ${holder}
License: MIT

License: MIT
 ${terms}
")
