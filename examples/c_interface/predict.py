# SPDX-License-Identifier: Apache-2.0
"""Predicts with a model file by Python's ctypes, without the package linnet: predict.py LIBLINNET MODEL.

Prints the class names and the outputs."""
import ctypes
import sys

linnet = ctypes.CDLL(sys.argv[1])
linnet.linnet_last_error.restype = ctypes.c_char_p
# Without this ctypes would cut pointers and 64-bit numbers to an int.
linnet.linnet_predict.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                                  ctypes.c_size_t]
linnet.linnet_model_free.argtypes = [ctypes.c_void_p]
linnet.linnet_model_free.restype = None


def check(code):
    if code != 0:
        raise RuntimeError(linnet.linnet_last_error().decode())


model = ctypes.c_void_p()
check(linnet.linnet_model_load(sys.argv[2].encode(), b'{"threads": 1}', ctypes.byref(model)))
classes = ctypes.c_int32()
check(linnet.linnet_model_classes(model, ctypes.byref(classes)))
for label in range(classes.value):
    name = ctypes.c_char_p()
    check(linnet.linnet_model_class_name(model, label, ctypes.byref(name)))
    print(name.value.decode())
samples = (ctypes.c_float * 12)(*(0.125 * (i * 7 % 11 - 5) for i in range(12)))
outputs = (ctypes.c_float * 9)()
check(linnet.linnet_predict(model, 3, samples, 12, outputs, 9))
for number in outputs:
    print(f"{number:.9g}")
linnet.linnet_model_free(model)
