# Joins the ES modules of a page into one script: page_script(FOLDER main.js result).
#
# Each module becomes a function that returns its exports; an import takes names from the result.  The expressions below understand only part of
# the language, and tests/browser/test_source.py checks that the modules keep to it: an import is one line and names a file in the same folder;
# an export is the declaration of a function, class or constant; comments other than types have their own lines; no string spans two lines.

# Appends to the list page_modules everything that the module NAME imports, then NAME itself.  PATH: the chain of imports to this module.
function(page_collect folder name path)
    if(name IN_LIST path)
        message(FATAL_ERROR "modules of the page import each other: ${path} ${name}")
    endif()
    list(APPEND path ${name})
    file(READ ${folder}/${name} text)
    string(REGEX MATCHALL "\nimport [^\n]* from \"\\./[a-z_]+\\.js\"" imports "${text}")
    foreach(import IN LISTS imports)
        string(REGEX REPLACE ".*\"\\./([a-z_]+)\\.js\"$" "\\1.js" other "${import}")
        if(NOT other IN_LIST page_modules)
            page_collect(${folder} ${other} "${path}")
        endif()
    endforeach()
    list(APPEND page_modules ${name})
    set(page_modules "${page_modules}" PARENT_SCOPE)
endfunction()

# CMake treats brackets and semicolons as list syntax, so texts are always quoted.
function(page_script folder name result)
    set(page_modules "")
    page_collect(${folder} ${name} "")
    # in a block, so that the page can run it again
    set(script "\"use strict\";\n{")
    foreach(module IN LISTS page_modules)
        file(READ ${folder}/${module} text)
        string(REPLACE ".js" "" module ${module})
        string(REGEX MATCHALL "\nexport (function|class|const) [A-Za-z_0-9]+" exports "${text}")
        string(REGEX REPLACE "\nexport (function|class|const) " "" exports "${exports}")
        string(REPLACE ";" ", " exports "${exports}")
        string(REGEX REPLACE "\nimport [*] as ([a-z_]+) from \"\\./([a-z_]+)\\.js\"" "\nconst \\1 = \\2Module" text "\n${text}")
        string(REGEX REPLACE "\nimport ([^\n]*) from \"\\./([a-z_]+)\\.js\"" "\nconst \\1 = \\2Module" text "${text}")
        string(REGEX REPLACE "\nexport " "\n" text "${text}")
        string(APPEND script "\nconst ${module}Module = (() => {${text}return {${exports}};\n})();")
    endforeach()
    string(REGEX REPLACE "/[*][*]([^*]|[*]+[^*/])*[*]+/" "" script "${script}")
    string(REGEX REPLACE "\n[ ]*//[^\n]*" "" script "${script}")
    string(REGEX REPLACE "\n[ \n]+" "\n" script "${script}")
    set(${result} "${script}\n}\n" PARENT_SCOPE)
endfunction()
