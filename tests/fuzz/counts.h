/* SPDX-License-Identifier: Apache-2.0 */
/* How many calls of what there were; written to the file VSCAN_FUZZ_COUNTS at the end of the process. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdint.h>

#include "vscan.h"

void counts_begin(void);
void counts_execution(void);

#endif
