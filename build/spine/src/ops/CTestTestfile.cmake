# CMake generated Testfile for 
# Source directory: /work/main/src/ops
# Build directory: /work/main/build/spine/src/ops
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
include("/work/main/build/spine/src/ops/op_test[1]_include.cmake")
