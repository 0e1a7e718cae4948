# CMake generated Testfile for 
# Source directory: /work/main/src/runtime
# Build directory: /work/main/build/spine/src/runtime
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
