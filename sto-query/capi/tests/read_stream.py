"""Prints the rows of a query, which pyarrow reads from libsto without copying them."""

import ctypes
import sys

import pyarrow

sto = ctypes.CDLL(sys.argv[1])
sto.sto_open_in_memory.restype = ctypes.c_void_p
sto.sto_sql.restype = ctypes.c_bool
error = ctypes.c_void_p()
store = ctypes.c_void_p(sto.sto_open_in_memory(ctypes.byref(error)))
# struct ArrowArrayStream is five pointers.
stream = (ctypes.c_void_p * 5)()
query = b"SELECT 1 AS n, 'a' AS text UNION ALL SELECT NULL, 'b'"
assert sto.sto_sql(store, query, stream, ctypes.byref(error))
sto.sto_close(store)
print(pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all().to_pylist())
