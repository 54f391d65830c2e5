# Weights in training: AdaGrad or plain gradient ascent, with an L2 prior that is applied lazily.
from libc.math cimport sqrtf
from libc.stdint cimport uint32_t


cdef class LearningWeights:
    cdef readonly object values      # the weights, float32
    cdef readonly object squares     # sums of squared gradients, float32; None without AdaGrad
    cdef readonly object clocks      # by weight: the clock at its last change
    cdef readonly double l2
    cdef public double step          # the size of the next changes
    cdef public double clock         # the sum of the sizes of all steps so far
    cdef float* value
    cdef float* square
    cdef float* changed
    cdef void add(self, uint32_t feature, float gradient) noexcept nogil
