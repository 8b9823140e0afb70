# SPDX-License-Identifier: Apache-2.0
"""Builds the last commit of this checkout: spack repo add cmake/packaging/spack; spack install libvscan"""
import os

from spack.package import *


class Libvscan(CMakePackage, CudaPackage):
    """Prefix scans on GPUs, and on CPUs where there is no GPU"""

    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 5))

    license("Apache-2.0")
    version("main", branch="main")

    variant("shared", default=True, description="a shared library")
    variant("mpi", default=False, description="libvscan_mpi: groups of ranks by MPI")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi", when="+mpi")
    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define("VSCAN_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("VSCAN_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
            self.define("VSCAN_MANUAL", False),
            self.define_from_variant("VSCAN_SHARED", "shared"),
        ]
        chosen = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ("none",)
        if "none" not in chosen:
            names = ["90a-real" if number == "90" else f"{number}-real" for number in chosen]
            arguments.append(self.define("VSCAN_CUDA_ARCHITECTURES", ";".join(names)))
        return arguments
