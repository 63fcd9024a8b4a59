# Packages: "cpack -G DEB" (three packages, for a build with CMAKE_INSTALL_PREFIX=/usr) and "cpack -G TGZ" (one tree).
# tools/package/README.md says how, and what lintian thinks of them.
set(package_files ${CMAKE_CURRENT_BINARY_DIR}/package)
string(TIMESTAMP package_now "%s" UTC)                  # of SOURCE_DATE_EPOCH when that is set
execute_process(COMMAND date -u -R -d ${GCDUMPC_DATE} OUTPUT_VARIABLE GCDUMPC_CHANGELOG_DATE OUTPUT_STRIP_TRAILING_WHITESPACE)
