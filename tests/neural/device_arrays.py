"""Arrays that refuse what CuPy's refuse, so that code for a GPU can run, and fail, on a machine without one.

A `DeviceArray` holds a NumPy array, as if it were in the memory of another device: it never becomes a NumPy array by
itself, and cannot be computed with one, nor hold one's values. What CuPy allows is allowed: NumPy arrays as indices.
PyTorch's tensors stay on the processor and count as tensors of that device. Kernels are not tested this way, and a
function that CuPy lacks is not noticed.
"""

import operator

import numpy as np
import thinc.optimizers
import thinc.types
import thinc.util
from thinc.api import NumpyOps, Ops, set_current_ops

_CPU = NumpyOps()
_OPERATORS = "lt le gt ge eq ne add sub mul truediv floordiv mod pow matmul and or xor".split()
_PLAIN = {"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides", "flags", "item", "tolist"}


class DeviceArray:
    """An array of another device."""

    __hash__ = None

    def __init__(self, array):
        self._array = array

    def get(self):
        """Copy the array to the processor."""
        return self._array.copy()

    def toDlpack(self):  # noqa: N802  # CuPy's name
        import torch

        return torch.utils.dlpack.to_dlpack(torch.from_numpy(self._array))

    def __array__(self, *args, **kwargs):
        raise TypeError("implicit conversion to a NumPy array")

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return _called(getattr(ufunc, method), args, kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return _called(function, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__") or name in ("data", "ctypes", "base"):
            raise AttributeError(name)
        value = getattr(self._array, name)
        if name in _PLAIN:
            return value
        return _function(value) if callable(value) else _on_device(value)

    def __getitem__(self, key):
        return _on_device(self._array[_index(key)])

    def __setitem__(self, key, value):
        self._array[_index(key)] = _off_device(value)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __len__(self):
        return len(self._array)

    def __bool__(self):
        return bool(self._array)

    def __float__(self):
        return float(self._array.item())

    def __int__(self):
        return int(self._array.item())

    def __index__(self):
        return operator.index(self._array)

    def __neg__(self):
        return DeviceArray(-self._array)

    def __invert__(self):
        return DeviceArray(~self._array)

    def __abs__(self):
        return DeviceArray(abs(self._array))


def _add_operator(name):
    plain = getattr(operator, f"__{name}__")
    setattr(DeviceArray, f"__{name}__", lambda self, other: _called(plain, (self, other), {}))
    if hasattr(np.ndarray, f"__r{name}__"):
        setattr(DeviceArray, f"__r{name}__", lambda self, other: _called(plain, (other, self), {}))
    if hasattr(np.ndarray, f"__i{name}__"):
        in_place = getattr(operator, f"__i{name}__")

        def change(self, other):
            in_place(self._array, _off_device(other))
            return self

        setattr(DeviceArray, f"__i{name}__", change)


for _name in _OPERATORS:
    _add_operator(_name)


def _off_device(value):
    if isinstance(value, DeviceArray):
        return value._array
    if isinstance(value, np.ndarray):
        raise TypeError("unsupported type numpy.ndarray")
    if isinstance(value, list | tuple):
        return type(value)([_off_device(item) for item in value])
    return value


def _on_device(value):
    if isinstance(value, np.ndarray | np.number | np.bool_):
        return DeviceArray(np.asarray(value))
    if isinstance(value, list | tuple):
        return type(value)([_on_device(item) for item in value])
    return value


def _index(key):
    if isinstance(key, tuple):
        return tuple(_index(item) for item in key)
    return key if isinstance(key, np.ndarray) else _off_device(key)


def _called(function, args, kwargs):
    return _on_device(function(*_off_device(args), **{name: _off_device(value) for name, value in kwargs.items()}))


def _function(function):
    return lambda *args, **kwargs: _called(function, args, kwargs)


class _Module:
    """NumPy's module, or a part of it, for arrays of the device."""

    ndarray = DeviceArray

    def __init__(self, module=np):
        self._module = module

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if isinstance(value, type) or not (callable(value) or name in ("random", "linalg")):
            return value
        return _Module(value)  # also for functions: np.add has np.add.at

    def __call__(self, *args, **kwargs):
        return _called(self._module, args, kwargs)

    @staticmethod
    def asarray(data, dtype=None, **kwargs):
        """Copy to the device, as `array`: these two take NumPy arrays."""
        if isinstance(data, DeviceArray):
            return data if dtype in (None, data.dtype) else data.astype(dtype)
        if isinstance(data, list | tuple) and any(isinstance(item, DeviceArray) for item in data):
            data = _off_device(data)
        return DeviceArray(np.array(data, dtype))

    def array(self, data, dtype=None, **kwargs):
        """Copy to the device."""
        return DeviceArray(np.array(self.asarray(data)._array, dtype))

    @staticmethod
    def save(file, array):
        """Write an array of either kind, as CuPy does."""
        np.save(file, _CPU.asarray(_index(array)))

    @staticmethod
    def split(array, places, axis=0):
        """Split an array at places, which may be a NumPy array as indices may."""
        return [DeviceArray(part) for part in np.split(array._array, _index(places), axis)]


XP = _Module()


class DeviceOps(Ops):
    """What thinc computes with on the device: the functions for the processor, on what the arrays hold."""

    name = "device"
    xp = XP

    def to_numpy(self, data, *, byte_order=None):
        return _CPU.to_numpy(data if isinstance(data, np.ndarray) else data.get(), byte_order=byte_order)

    def asarray(self, data, dtype=None):
        return XP.asarray(data, dtype)


def _add_function(name):
    setattr(DeviceOps, name, lambda self, *args, **kwargs: _called(getattr(_CPU, name), args, kwargs))


for _name in set(vars(NumpyOps)) - set(vars(DeviceOps)) - {"alloc", "cblas"}:
    if not _name.startswith("_"):
        _add_function(_name)


def use_device(monkeypatch):
    """Compute on the device until the end of a test."""
    monkeypatch.setattr(thinc.util, "has_cupy", True)
    monkeypatch.setattr(thinc.util, "cupy", XP)
    monkeypatch.setattr(thinc.types, "get_array_module", thinc.util.get_array_module)
    monkeypatch.setattr(thinc.util, "is_torch_cuda_array", thinc.util.is_torch_array)
    monkeypatch.setattr(thinc.util, "cupy_from_dlpack", _from_dlpack)
    monkeypatch.setattr(
        thinc.optimizers, "get_array_ops", lambda a: DeviceOps() if isinstance(a, DeviceArray) else _CPU
    )
    set_current_ops(DeviceOps())


def _from_dlpack(capsule):
    import torch

    return DeviceArray(torch.utils.dlpack.from_dlpack(capsule).numpy())
