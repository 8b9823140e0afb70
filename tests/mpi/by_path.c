/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a library by its path, as ctypes does: it must find what it needs. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    void *const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) printf("%s\n", dlerror());
    return library == NULL || dlsym(library, "vscan_mpi_create") == NULL;
}
