#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mpirun.sh MPI MPIRUN N PROGRAM...: runs N ranks on this machine, also as root, also with more ranks than
# processors, and without a network.
set -eu
mpi=$1 mpirun=$2 n=$3
shift 3
export VSCAN_NUM_THREADS=1
case $mpi in
openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # processes of other users' containers may not be read directly (CMA)
    export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_hwloc_base_binding_policy=none
    exec "$mpirun" -n "$n" "$@"
    ;;
*) exec "$mpirun" -n "$n" "$@" ;;
esac
