# CMake generated Testfile for 
# Source directory: /work/main/src/plan
# Build directory: /work/main/build/spine/src/plan
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
