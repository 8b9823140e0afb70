/* SPDX-License-Identifier: Apache-2.0 */
#include <vscan.h>

int main(void) {
    int32_t v[4] = {3, 1, 4, 1};
    vscan_status status = vscan_host_scan(VSCAN_PLUS, VSCAN_INT, VSCAN_INCLUSIVE, VSCAN_FORWARD, v, 4, v);
    return status != VSCAN_OK || v[3] != 9;
}
