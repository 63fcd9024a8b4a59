# Run by CPack on the finished packages.  CPack gives a package with a shared library scripts that call ldconfig, and cannot be told not to;
# Debian has a trigger for that, which the package has, too.
foreach(package ${CPACK_PACKAGE_FILES})
    if(NOT package MATCHES "/libgcdumpc[0-9.]+_[^/]*\\.deb$")
        continue()
    endif()
    set(folder ${package}.parts)
    execute_process(COMMAND dpkg-deb -R ${package} ${folder} COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE ${folder}/DEBIAN/postinst ${folder}/DEBIAN/postrm)
    execute_process(COMMAND dpkg-deb --root-owner-group -b ${folder} ${package} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${folder})
endforeach()
