# SPDX-License-Identifier: Apache-2.0
"""Builds this checkout as a package of Conan 2: conan create cmake/packaging/conan [-o cuda=True]"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Libvscan(ConanFile):
    name = "libvscan"
    license = "Apache-2.0"
    description = "Prefix scans on GPUs, and on CPUs where there is no GPU"
    topics = ("scan", "prefix-sum", "cuda")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "cuda": [True, False]}  # cuda: with the nvcc that is on PATH
    default_options = {"shared": True, "cuda": False}
    languages = "C"

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "vscan.h"))
        self.version = ".".join(re.search(rf"VSCAN_VERSION_{part} (\d+)", header)[1]
                                for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "*.md", "*.in", "cmake/*", "include/*",
                        "kernels/*", "lib/*", "tests/programs/*"):
            copy(self, pattern, self._root, self.export_sources_folder, excludes=("build/*", "*/build/*", ".git/*"))

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["VSCAN_CUDA"] = "ON" if self.options.cuda else "OFF"
        toolchain.cache_variables["VSCAN_SHARED"] = bool(self.options.shared)
        toolchain.cache_variables["VSCAN_MPI"] = "OFF"
        toolchain.cache_variables["VSCAN_MANUAL"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["vscan"]
        self.cpp_info.set_property("cmake_file_name", "vscan")
        self.cpp_info.set_property("cmake_target_name", "vscan::vscan")
        self.cpp_info.set_property("pkg_config_name", "libvscan")
        if not self.options.shared:
            self.cpp_info.system_libs = ["pthread", "m"] + (["dl", "rt"] if self.options.cuda else [])
