"""The base class of all beams. Its methods are in incremental_beam.pxd, so that searches inline them."""


cdef class IncrementalBeam:
    """Open constituents and constraints of a search."""
