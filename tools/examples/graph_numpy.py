#!/usr/bin/env python3
"""Reads a heap as numpy arrays, with ctypes, and prints the ten largest types and the objects with the most references to them.

    python3 graph_numpy.py FILE [LIBRARY]       LIBRARY: libgcdumpc.so.0.3 unless given
"""
import ctypes
import sys
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_uint8, c_uint32, c_uint64, c_void_p

import numpy as np


class Error(ctypes.Structure):                   # struct gcd_error
    _fields_ = [("code", c_int), ("reason", c_int), ("off", c_uint64), ("os_errno", c_int), ("msg", c_char * 512)]


class Type(ctypes.Structure):                    # struct gcd_type
    _fields_ = [("id", c_uint64), ("module", c_uint64), ("name", c_char_p), ("raw_name", c_char_p), ("module_path", c_char_p),
                ("objects", c_uint64), ("bytes", c_uint64),
                ("edges", c_uint64), ("name_token", c_uint32), ("flags", c_uint32), ("module_number", c_uint32), ("element_type", c_uint8),
                ("parameters", c_uint8 * 4), ("described", c_bool),
                ("named", c_bool), ("uneven_sizes", c_bool), ("events", c_char_p), ("layout", c_char_p)]


class Summary(ctypes.Structure):                 # the beginning of struct gcd_summary
    _fields_ = [("types", POINTER(Type)), ("roots", c_void_p), ("ranges", c_void_p), ("processes", c_void_p), ("modules", c_void_p), ("type_count", c_uint32)]


class Columns(ctypes.Structure):                 # struct gcd_graph_columns
    _fields_ = [(name, c_void_p) for name in ("addresses", "sizes_bytes", "types", "edge_starts", "edges")]


def library(path):
    lib = ctypes.CDLL(path)
    for name, result, arguments in (
            ("gcd_input_open", c_int, [c_char_p, c_void_p, POINTER(c_void_p), POINTER(Error)]),
            ("gcd_dump_open", c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(Error)]),
            ("gcd_graph_from_dump", c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(Error)]),
            ("gcd_graph_node_count", c_uint32, [c_void_p]), ("gcd_graph_edge_count", c_uint64, [c_void_p]),
            ("gcd_graph_summary", POINTER(Summary), [c_void_p]),
            ("gcd_graph_columns", None, [c_void_p, POINTER(Columns)]),
            ("gcd_graph_free", None, [c_void_p]), ("gcd_dump_free", None, [c_void_p]), ("gcd_input_free", None, [c_void_p])):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def load(lib, path):
    """Names of the types, and the columns as arrays: addresses, sizes_bytes, types, edge_starts, edges."""
    error, source, dump, graph = Error(), c_void_p(), c_void_p(), c_void_p()
    try:
        if (lib.gcd_input_open(path.encode(), None, byref(source), byref(error)) != 0
                or lib.gcd_dump_open(source, None, byref(dump), byref(error)) != 0
                or lib.gcd_graph_from_dump(dump, None, byref(graph), byref(error)) != 0):
            raise OSError(f"{path}: {error.msg.decode()}")
        nodes, edges = lib.gcd_graph_node_count(graph), lib.gcd_graph_edge_count(graph)
        arrays = {"addresses": np.empty(nodes, np.uint64), "sizes_bytes": np.empty(nodes, np.uint64), "types": np.empty(nodes, np.uint32),
                  "edge_starts": np.empty(nodes + 1, np.uint64), "edges": np.empty(edges, np.uint32)}
        lib.gcd_graph_columns(graph, byref(Columns(**{name: a.ctypes.data for name, a in arrays.items()})))
        summary = lib.gcd_graph_summary(graph).contents
        names = [summary.types[i].name.decode(errors="replace") for i in range(summary.type_count)]
        return names, arrays
    finally:
        if graph:
            lib.gcd_graph_free(graph)
        if dump:
            lib.gcd_dump_free(dump)
        if source:
            lib.gcd_input_free(source)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    names, heap = load(library(sys.argv[2] if len(sys.argv) > 2 else "libgcdumpc.so.0.3"), sys.argv[1])
    count = np.bincount(heap["types"], minlength=len(names))
    size = np.bincount(heap["types"], weights=heap["sizes_bytes"].astype(np.float64), minlength=len(names)).astype(np.uint64)
    print("   objects      bytes  type")
    for i in np.argsort(size, kind="stable")[::-1][:10]:
        print(f"{count[i]:10d} {size[i]:10d}  {names[i]}")
    incoming = np.bincount(heap["edges"], minlength=len(heap["types"]))
    print("references  object")
    for n in np.argsort(incoming, kind="stable")[::-1][:5]:
        print(f"{incoming[n]:10d}  {heap['addresses'][n]:#x} {names[heap['types'][n]]}")


if __name__ == "__main__":
    main()
