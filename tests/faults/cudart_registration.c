/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nvcc's own part of a host object needs of the CUDA runtime: kernels are registered with nobody,
 * and none is started in this way, which is that of <<<>>>.
 */
#include <stdlib.h>

#include <cuda_runtime_api.h>

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *a, void *b, void *c, void *d, int *e);
unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(void **kernel, const void *function);
cudaError_t __cudaLaunchKernel(void *kernel, dim3 blocks, dim3 threads, void **arguments,
                               size_t shared, cudaStream_t stream);

void **__cudaRegisterFatBinary(void *binary) {
    static void *handle;
    (void)binary;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}
void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *a, void *b, void *c, void *d, int *e) {
    (void)handle, (void)host, (void)device, (void)name, (void)limit;
    (void)a, (void)b, (void)c, (void)d, (void)e;
}
unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, size_t shared, void *stream) {
    (void)blocks, (void)threads, (void)shared, (void)stream;
    abort();
    return 1;
}
cudaError_t __cudaPopCallConfiguration(dim3 *blocks, dim3 *threads, size_t *shared, void *stream) {
    (void)blocks, (void)threads, (void)shared, (void)stream;
    return cudaErrorUnknown;
}
cudaError_t __cudaGetKernel(void **kernel, const void *function) {
    (void)kernel, (void)function;
    return cudaErrorUnknown;
}
cudaError_t __cudaLaunchKernel(void *kernel, dim3 blocks, dim3 threads, void **arguments,
                               size_t shared, cudaStream_t stream) {
    (void)kernel, (void)blocks, (void)threads, (void)arguments, (void)shared, (void)stream;
    return cudaErrorUnknown;
}
cudaError_t cudaLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **arguments,
                             size_t shared, cudaStream_t stream) {
    (void)function, (void)blocks, (void)threads, (void)arguments, (void)shared, (void)stream;
    abort();
    return cudaErrorUnknown;
}
