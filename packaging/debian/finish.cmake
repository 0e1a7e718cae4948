# SPDX-License-Identifier: Apache-2.0
# CPack runs this on the folders of the packages' files (CPACK_PRE_BUILD_SCRIPTS): adds to each what Debian's
# policy wants in /usr/share/doc, and takes out search paths for libraries, which lie in the system's folders.
string(TIMESTAMP year "%Y" UTC)  # of SOURCE_DATE_EPOCH, where it is set
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

foreach(component ${CPACK_COMPONENTS_ALL})
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  if(NOT IS_DIRECTORY ${folder} OR NOT package)
    message(FATAL_ERROR "There are no files of the component ${component} in ${folder}")
  endif()

  file(WRITE ${folder}/share/doc/${package}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Linnet
Upstream-Contact: ${CPACK_PACKAGE_CONTACT}

Files: *
Copyright: ${year} The Linnet developers
License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
")
  set(changelog ${folder}/share/doc/${package}/changelog)
  file(WRITE ${changelog}
"linnet (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Packaged from this version's sources, whose CHANGELOG.md says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB pages ${folder}/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${changelog} ${pages} COMMAND_ERROR_IS_FATAL ANY)

  # Debian's own folder of libraries has the architecture's name: lib/x86_64-linux-gnu.
  file(GLOB libraries ${folder}/lib/*.so* ${folder}/lib/*/*.so* ${folder}/bin/*)
  foreach(library ${libraries})
    if(NOT IS_SYMLINK ${library})
      file(RPATH_SET FILE ${library} NEW_RPATH "")
    endif()
  endforeach()

  file(GLOB plugins RELATIVE ${folder} ${folder}/lib/liblinnet_*.so ${folder}/lib/*/liblinnet_*.so)
  foreach(plugin ${plugins})
    file(APPEND ${folder}/share/lintian/overrides/${package}
"# liblinnet.so opens it by its name from its own folder; nothing is linked with it.
${package}: sharedobject-in-library-directory-missing-soname [usr/${plugin}]
")
  endforeach()
endforeach()
