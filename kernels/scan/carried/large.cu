/* SPDX-License-Identifier: Apache-2.0 */
/* scan_large that goes on from a carry, for pairs that add in order. */
#include "scan/large/large.cuh"

namespace vscan {

template <class T>
cudaError_t launch_large_carried(vscan__launch *launch, const scan_arguments &a) {
    using Pair = carried<pair<op_plus, T>>;
    return launch_large<Pair, false>(launch, a);
}
template cudaError_t launch_large_carried<float>(vscan__launch *, const scan_arguments &);
template cudaError_t launch_large_carried<double>(vscan__launch *, const scan_arguments &);

} /* namespace vscan */
