/* SPDX-License-Identifier: Apache-2.0 */
/* The module vscan._vscan. Its functions lie in the files of their families. */
#define IMPORTS_NUMPY
#include "module.h"

#include "gpu.h"
#include "handles.h"
#include "job.h"

static PyObject *synchronize(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    if (!gpu_synchronize()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *describe(PyObject *module, PyObject *nothing) {
    static char text[16384]; /* the GIL guards it */
    (void)module;
    (void)nothing;
    vscan_describe(text, sizeof text);
    return PyUnicode_FromString(text);
}

static PyMethodDef module_functions[] = {
    {"describe", describe, METH_NOARGS,
     PyDoc_STR(
         "describe($module)\n"
         "--\n\n"
         "The library and the machine, a line for each thing: versions, devices, the backend that "
         "is\n"
         "taken and why, the instruction set, threads. It belongs in a report of an error.\n\n"
         ">>> import vscan\n"
         ">>> vscan.__version__ in vscan.describe()\n"
         "True\n")},
    {"synchronize", synchronize, METH_NOARGS,
     PyDoc_STR(
         "synchronize($module)\n"
         "--\n\n"
         "Waits until the work of all functions of this module on GPUs is done.\n\n"
         "Raises what was found wrong in the data since the last time (an offset that falls, for\n"
         "example), and releases the arrays that were kept for the work. On the host every "
         "function\n"
         "is done, and has raised, when it returns.\n")},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "vscan._vscan",
                                        PyDoc_STR("The functions of vscan, in C."),
                                        -1,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

static bool fill(PyObject *module) {
    PyMethodDef *const families[] = {module_functions,  scan_functions, reduce_functions,
                                     segment_functions, pack_functions, sort_functions};
    for (size_t k = 0; k < sizeof families / sizeof families[0]; k++)
        if (PyModule_AddFunctions(module, families[k]) != 0) return false;
    if (PyModule_AddStringConstant(module, "library_version", vscan_version_text()) != 0)
        return false;
    return handles_add(module) && errors_import(module);
}

PyMODINIT_FUNC PyInit__vscan(void);
PyMODINIT_FUNC PyInit__vscan(void) {
    if (PyArray_ImportNumPyAPI() != 0) return NULL;
    PyObject *const module = PyModule_Create(&definition);
    if (module == NULL || fill(module)) return module;
    Py_DECREF(module);
    return NULL;
}
