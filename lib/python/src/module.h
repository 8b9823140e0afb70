/* SPDX-License-Identifier: Apache-2.0 */
/* What every file of the extension includes: Python's limited API, NumPy's API, vscan.h. */
#ifndef MODULE_H
#define MODULE_H

#include <Python.h>
#ifndef IMPORTS_NUMPY /* module.c does, once for all */
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "vscan.h"

/* A function that Python calls with a vector of arguments. Each file has a table of its own; module.c adds
   them to the module. */
#define FUNCTION(name, doc)                                                                        \
    { #name, (PyCFunction)(void (*)(void))name, METH_FASTCALL | METH_KEYWORDS, PyDoc_STR(doc) }

extern PyMethodDef scan_functions[], reduce_functions[], segment_functions[], pack_functions[],
    sort_functions[];

#endif
