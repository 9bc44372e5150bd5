# SPDX-License-Identifier: BSL-1.0
"""Builds and runs the programs of cmake/tests/consumer with the package."""
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class TestPackage(ConanFile):
    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=os.path.join(self.recipe_folder, "..", "..", "..", "cmake", "tests", "consumer"))
        cmake.build()

    def test(self):
        if can_run(self):
            for program in ("consumer", "bus_consumer", "tls_consumer"):
                path = os.path.join(self.cpp.build.bindir, program)
                if program != "tls_consumer" or os.path.exists(path):  # without TLS it is not built
                    self.run(path, env="conanrun")
