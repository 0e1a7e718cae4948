# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe: `conan create packaging/conan` in a checkout builds Linnet from its own tree."""
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class LinnetConan(ConanFile):
    name = "linnet"
    license = "Apache-2.0"
    description = "Trains and runs neural networks faster than frameworks on the same hardware"
    topics = ("neural-networks", "machine-learning", "deep-learning")
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"command": [True, False]}
    default_options = {"command": True}

    def set_version(self):
        header = Path(self.recipe_folder, "../../include/linnet/version.h").read_text()
        self.version = ".".join(re.findall(r"^#define LINNET_VERSION_\w+ (\d+)$", header, re.M))

    def export_sources(self):
        root = Path(self.recipe_folder, "../..")
        for name in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "apps/*",
                     "examples/*", "tools/*"):
            copy(self, name, root, self.export_sources_folder)

    def requirements(self):
        self.requires("fmt/[>=8.1 <12]")
        self.requires("nlohmann_json/[>=3.10 <4]")
        self.requires("onednn/[>=2.5 <4]")
        self.requires("highway/[>=1.0 <2]")
        self.requires("zlib/[>=1.2 <2]")
        self.requires("xz_utils/[>=5.2 <6]")
        self.requires("expat/[>=2.4 <3]")
        self.requires("libpng/[>=1.6 <2]")
        self.requires("libjpeg-turbo/[>=2.1 <4]")
        self.requires("libtiff/[>=4.3 <5]")
        self.requires("libwebp/[>=1.2 <2]")
        self.requires("utf8proc/[>=2.7 <3]")
        self.requires("libcurl/[>=7.81 <9]")
        self.requires("openssl/[>=3.0 <4]")
        if self.options.command:
            self.requires("cli11/[>=2.1 <3]")
            self.requires("boost/[>=1.74 <2]")
            self.requires("tomlplusplus/[>=3.0 <4]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["LINNET_BUILD_TESTS"] = False
        toolchain.cache_variables["LINNET_BUILD_BENCHMARKS"] = False
        toolchain.cache_variables["LINNET_BUILD_APPS"] = bool(self.options.command)
        toolchain.cache_variables["LINNET_CUDA"] = "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["linnet"]
        self.cpp_info.set_property("cmake_file_name", "linnet")
        self.cpp_info.set_property("cmake_target_name", "linnet::linnet")
        self.cpp_info.set_property("pkg_config_name", "linnet")
