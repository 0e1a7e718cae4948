# CMake generated Testfile for 
# Source directory: /work/main/src/graph
# Build directory: /work/main/build/spine/src/graph
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
