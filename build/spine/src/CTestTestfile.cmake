# CMake generated Testfile for 
# Source directory: /work/main/src
# Build directory: /work/main/build/spine/src
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
subdirs("base")
subdirs("core")
subdirs("graph")
subdirs("plan")
subdirs("runtime")
subdirs("backend")
subdirs("ops")
