# CMake generated Testfile for 
# Source directory: /work/main/apps/linnet
# Build directory: /work/main/build/spine/apps/linnet
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
