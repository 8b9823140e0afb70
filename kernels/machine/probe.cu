/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that does nothing: for which architecture was the code compiled that runs here? */
#include "cuda/launch.h"

namespace vscan {

__global__ void probe() {}

} /* namespace vscan */

extern "C" cudaError_t vscan__probe_kernels(int *compiled_for) {
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, vscan::probe);
    if (error == cudaSuccess) *compiled_for = attributes.ptxVersion;
    return error;
}
