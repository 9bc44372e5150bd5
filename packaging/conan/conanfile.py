# SPDX-License-Identifier: BSL-1.0
"""Conan recipe of this checkout: conan create packaging/conan

scripts/ci/conan tests it with wrappers of the system's Boost, xxHash, liburing and OpenSSL (packaging/conan/system), static
and shared. It is untested with the packages of Conan Center.
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class Quintet(ConanFile):
    name = "quintet"
    description = "Servers on Boost.Asio under five threading models"
    license = "BSL-1.0"
    topics = ("server", "network", "asio", "epoll", "io_uring", "threads")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "with_uring": [True, False], "with_tls": [True, False],
               "affinity_guard": [True, False]}
    default_options = {"shared": False, "fPIC": True, "with_uring": True, "with_tls": True, "affinity_guard": False,
                       "boost/*:header_only": True}
    implements = ["auto_shared_fpic"]

    def _checkout(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._checkout(), "base", "version.hpp"))
        self.version = re.search(r'QUINTET_VERSION_STRING "([0-9.]+)"', text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "RELEASE_NOTES.md", "CHANGELOG.md", "cmake/*.cmake",
                        "cmake/*.in", "base/*", "net/*", "threadmodels/*", "bus/*"):
            copy(self, pattern, self._checkout(), self.export_sources_folder, excludes=("*/tests/*", "*/__pycache__/*"))

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)  # public headers include Boost's
        self.requires("xxhash/[>=0.8 <1]", libs=False)  # a header, for one source
        if self.options.with_uring:
            self.requires("liburing/[>=2.3]")
        if self.options.with_tls:
            self.requires("openssl/[>=3.0 <4]")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Quintet is for Linux only")
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("TESTS", "EXAMPLES", "BENCHMARKS", "PRECOMPILE"):
            toolchain.cache_variables[f"QUINTET_{name}"] = False
        toolchain.cache_variables["QUINTET_INSTALL"] = True
        toolchain.cache_variables["QUINTET_ENGINE_URING"] = bool(self.options.with_uring)
        if not self.options.with_tls:  # the system's OpenSSL would be found
            toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_OpenSSL"] = True
        toolchain.cache_variables["QUINTET_AFFINITY_GUARD"] = bool(self.options.affinity_guard)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for folder in ("cmake", "pkgconfig"):  # Conan's generators write these files for the packages that it knows
            rmdir(self, os.path.join(self.package_folder, "lib", folder))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "quintet")
        self.cpp_info.set_property("cmake_target_name", "quintet::all")  # with `testing`, which products do not link
        needs = {"base": ["boost::headers", "xxhash::xxhash"], "net": ["base"], "threadmodels": ["net"],
                 "bus": ["threadmodels"], "testing": ["net"]}
        if self.options.with_uring:
            needs["net"].append("liburing::liburing")
        if self.options.with_tls:
            needs["tls"] = ["net", "openssl::ssl", "openssl::crypto"]
        for name, requires in needs.items():
            part = self.cpp_info.components[name]
            part.set_property("cmake_target_name", f"quintet::{name}")
            part.libs = [f"quintet_{name}"]
            part.requires = requires
            part.system_libs = ["pthread"]
        if self.options.affinity_guard:
            self.cpp_info.components["net"].defines = ["QUINTET_AFFINITY_GUARD"]
        # The components of net/CMakeLists.txt: only a program that names them takes their objects from a static library.
        for name, symbol in {"asio_engine": "_ZN7quintet16make_asio_engineEv",
                             "rebalancer": "_ZN7quintet15make_rebalancerERKNS_14balanced_loopsE"}.items():
            part = self.cpp_info.components[name]
            part.set_property("cmake_target_name", f"quintet::{name}")
            part.requires = ["net"]
            part.libdirs = part.includedirs = []
            part.exelinkflags = part.sharedlinkflags = [f"-Wl,--undefined={symbol}"]
        whole = self.cpp_info.components["quintet"]
        whole.set_property("cmake_target_name", "quintet::quintet")
        whole.set_property("pkg_config_name", "quintet")
        whole.requires = ["threadmodels", "asio_engine", "rebalancer"]
