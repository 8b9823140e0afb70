/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of rows and of columns, which are compiled apart: matrix/rows/rows.cu and
   matrix/columns/columns.cu. */
#pragma once

#include "cuda/launch.h"
#include "elements/operators.cuh"

namespace vscan {

template <class Pair>
cudaError_t launch_any_rows(vscan__launch *launch, const vscan__matrix *matrix,
                            const pair_transform &transform);
template <class Pair>
cudaError_t launch_any_columns(vscan__launch *launch, const vscan__matrix *matrix,
                               const pair_transform &transform);

/* Status words that a launch needs at most, with values of 4 bytes. */
int64_t row_words(const vscan__matrix &matrix, int size);
int64_t column_words(const vscan__matrix &matrix, int size);

} /* namespace vscan */
