# SPDX-License-Identifier: Apache-2.0
"""Arrays go in and out without a copy, and live as long as anything needs them."""
import ctypes
import gc
import importlib
import unittest
import weakref

import numpy as np

import linnet as ln


class Owned(np.ndarray):
    """An array that weak references can watch."""


def owned(array):
    return array.view(Owned)


def small_network():
    return ln.sequential((3,), [ln.Dense(4), ln.ReLU(), ln.Dense(2)])


class Managed(ctypes.Structure):
    """DLManagedTensor of DLPack."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p),
                ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


USED = b"used_dltensor"  # the name of a capsule whose tensor was taken


def address_in(capsule):
    """Address of the Managed of a capsule."""
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return find(capsule, b"dltensor")


class Producer:
    """An array by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnGpu:
    """Stands in for an array of CuPy or JAX in the memory of a GPU, f32 (2, 3), which nothing may read."""
    ADDRESS = 0x7F0000001000
    alive: list = []  # the memory of a tensor lives until its deleter is called

    def __init__(self, device=(2, 0)):
        self.device, self.released = device, []
        self.alive.append(self)
        self.shape = (ctypes.c_int64 * 2)(2, 3)
        self.managed = Managed(self.ADDRESS, *device, 2, 2, 32, 1, self.shape, None, 0, None,
                               Managed._fields_[-1][1](self.released.append))

    def __dlpack__(self, **how):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return self.device


class Arrays(unittest.TestCase):
    def test_a_data_set_is_the_array(self):
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        y = np.array([0, 1, 0, 1], np.int32)
        data = ln.Dataset(x, y)
        self.assertTrue(np.shares_memory(data.column("input"), x))
        self.assertTrue(np.shares_memory(data.targets["target"], y))
        x[0, 0] = 42
        self.assertEqual(data.column("input")[0, 0], 42)

    def test_other_types_are_converted(self):
        for kind in (np.float64, np.float16, np.int64, np.int16, np.uint16, np.bool_, ">f4"):
            with self.subTest(kind=kind):
                data = ln.Dataset(np.array([[0, 1], [1, 0]]).astype(kind))
                self.assertIn(data.column("input").dtype, (np.float32, np.int32, np.uint8))
                np.testing.assert_array_equal(data.column("input"), [[0, 1], [1, 0]])

    def test_memory_lives_as_long_as_the_data_set(self):
        x = owned(np.ones((4, 3), np.float32))
        watched = weakref.ref(x)
        data = ln.Dataset(x)
        column = data.column("input")
        del x
        gc.collect()
        self.assertIsNotNone(watched())
        del data
        gc.collect()
        self.assertIsNotNone(watched(), "the column needs it")
        del column
        gc.collect()
        self.assertIsNone(watched())

    def test_training_holds_no_array(self):
        x, y = owned(np.random.default_rng(1).random((64, 3), np.float32)), np.zeros(64, np.int32)
        watched = weakref.ref(x)
        trainer = ln.Trainer(ln.Model(small_network(), threads=2))
        trainer.fit((x, y), epochs=2, batch=16)
        del x
        gc.collect()
        for _ in range(1000):  # what threads dropped is released by a later call of Python's
            if watched() is None:
                break
            trainer.predict(np.zeros((1, 3), np.float32))
        del trainer
        gc.collect()
        ln.Tensor(np.zeros(1))
        self.assertIsNone(watched())

    def test_layouts(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        for array in (np.asfortranarray(x), x[:, ::2], x[::-1], x.T):
            np.testing.assert_array_equal(ln.Tensor(array).numpy(), array)
        self.assertEqual(ln.Tensor(x).address, x.ctypes.data)
        self.assertEqual(ln.Tensor(memoryview(x)).address, x.ctypes.data)
        raw = (ctypes.c_float * 3)(1, 2, 3)
        self.assertEqual(ln.Tensor(raw).address, ctypes.addressof(raw))

    def test_unaligned_and_large_numbers(self):
        raw = b"\x01" + np.arange(12, dtype="<f4").tobytes()
        unaligned = np.frombuffer(raw, "<f4", offset=1).reshape(4, 3)
        np.testing.assert_array_equal(ln.Tensor(unaligned).numpy(), unaligned)
        np.testing.assert_array_equal(ln.Tensor(np.arange(3, dtype="u8")).numpy(), [0, 1, 2])
        with self.assertRaisesRegex(TypeError, "below 2\\^63"):
            ln.Tensor(np.array([2**63], "u8"))

    def test_dlpack_of_any_layout(self):
        x = np.arange(12, dtype="f4").reshape(3, 4)
        for array in (x, x.T, x[:, ::2], x.astype("i1"), x.astype("u2")):
            np.testing.assert_array_equal(ln.Tensor(Producer(array)).numpy(), array)

    def test_dlpack_is_released_without_pythons_lock(self):
        """PyTorch gives the lock up before it drops a tensor."""
        x = owned(np.ones((2, 3), np.float32))
        watched = weakref.ref(x)
        capsule = ln.Tensor(Producer(x)).__dlpack__()
        managed = Managed.from_address(address_in(capsule))
        rename = ctypes.pythonapi.PyCapsule_SetName
        rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
        rename(capsule, USED)
        del x, capsule
        managed.deleter(ctypes.addressof(managed))
        gc.collect()
        self.assertIsNone(watched())

    def test_dlpack_copies(self):
        x = np.ones(3, np.float32)
        tensor = ln.Tensor(x)
        with self.assertRaisesRegex(BufferError, "copy=True"):
            tensor.__dlpack__()
        managed = Managed.from_address(address_in(kept := tensor.__dlpack__(copy=True)))
        self.assertNotEqual(managed.data, tensor.address)
        del kept

    def test_read_only_arrays(self):
        x = np.ones((2, 3), np.float32)
        x.flags.writeable = False
        self.assertFalse(ln.Dataset(x).column("input").flags.writeable)

    def test_dlpack(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)

        class OnlyDlpack:
            def __dlpack__(self, **kwargs):
                return x.__dlpack__(**kwargs)

            def __dlpack_device__(self):
                return x.__dlpack_device__()

        self.assertEqual(ln.Tensor(OnlyDlpack()).address, x.ctypes.data)
        model = ln.Model(small_network())
        weight = model.parameter_memory("dense_1.weight")
        self.assertTrue(np.shares_memory(np.from_dlpack(weight), weight.numpy()))

    def test_arrays_of_a_gpu_stay_there(self):
        array = OnGpu()
        tensor = ln.Tensor(array)
        self.assertEqual((tensor.device, tensor.dtype, tensor.shape), ("cuda:0", "f32", (2, 3)))
        self.assertEqual(tensor.address, OnGpu.ADDRESS)
        self.assertEqual(tensor.__dlpack_device__(), (2, 0))
        del tensor
        self.assertEqual(len(array.released), 1)
        if ln.cuda_status().devices:
            return  # this address is none of a real GPU
        for use in (ln.Dataset, lambda a: ln.Tensor(a).numpy(), ln.Model(small_network()).predict):
            with self.assertRaisesRegex(ln.Error, "in the memory of cuda:0 belongs to another library"):
                use(OnGpu())
        self.assertEqual(repr(ln.Tensor(OnGpu())), "<Tensor f32 (2, 3) on cuda:0>")
        with self.assertRaises((TypeError, RuntimeError, BufferError)):
            ln.Tensor(OnGpu((10, 0)))  # ROCm

    def test_arrays_of_other_libraries(self):
        for library, address in (("torch", lambda array: array.data_ptr()),
                                 ("jax.numpy", lambda array: array.unsafe_buffer_pointer())):
            with self.subTest(library=library):
                try:
                    module = importlib.import_module(library)
                except ImportError:
                    continue
                array = module.ones((4, 3), dtype=module.float32)
                self.assertEqual(ln.Tensor(array).address, address(array))
                data = ln.Dataset(array)
                self.assertEqual(data.column("input").ctypes.data, address(array))
                halves = ln.Tensor(module.ones((4, 3), dtype=module.bfloat16))
                self.assertEqual(halves.dtype, "bf16")
                np.testing.assert_array_equal(halves.numpy(), np.ones((4, 3)))
                if library == "torch":
                    memory = module.from_dlpack(ln.Model(small_network()).parameter_memory("dense_1.weight"))
                    self.assertEqual(tuple(memory.shape), (4, 3))
                    with self.assertRaisesRegex(RuntimeError, "detach"):
                        ln.Tensor(array.requires_grad_())

    def test_empty_and_scalar(self):
        self.assertEqual(ln.Tensor(np.zeros((0, 3), np.float32)).numpy().shape, (0, 3))
        self.assertEqual(ln.Tensor(3.5).shape, ())
        with self.assertRaisesRegex(ln.DataError, "first axis counts the samples"):
            ln.Dataset(3.5)

    def test_what_is_no_array(self):
        for what in ("text", object(), [1, "a"], {"a": object()}, [[1], [1, 2]], np.array(["a"])):
            with self.subTest(what=what), self.assertRaises((TypeError, ValueError)):
                ln.Dataset(what)


if __name__ == "__main__":
    unittest.main()
