# SPDX-License-Identifier: BSL-1.0
"""A wrapper of a package that the system has, for tests of the recipe without Conan Center.

conan create packaging/conan/system --name boost --version 1.81.0
"""
from conan import ConanFile


class System(ConanFile):
    package_type = "unknown"
    options = {"header_only": [True, False]}
    default_options = {"header_only": True}

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        self.cpp_info.includedirs = []  # the compiler looks into the system's folders anyway
        if self.name == "boost":
            self.cpp_info.set_property("cmake_file_name", "Boost")
            self.cpp_info.components["headers"].set_property("cmake_target_name", "Boost::headers")
            self.cpp_info.components["headers"].includedirs = []
            self.cpp_info.components["headers"].libdirs = []
        if self.name == "openssl":
            self.cpp_info.set_property("cmake_file_name", "OpenSSL")
            for name, target in (("crypto", "Crypto"), ("ssl", "SSL")):
                part = self.cpp_info.components[name]
                part.set_property("cmake_target_name", f"OpenSSL::{target}")
                part.includedirs = part.libdirs = []
                part.system_libs = [name]
            self.cpp_info.components["ssl"].requires = ["crypto"]
        if self.name == "liburing":
            self.cpp_info.set_property("cmake_target_name", "liburing::liburing")
            self.cpp_info.system_libs = ["uring"]
