# SPDX-License-Identifier: Apache-2.0
"""benchmarks/operators.py, and the rows of kernels.py for its networks, without a measurement."""
import pathlib
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import kernel_tables  # noqa: E402
import kernels  # noqa: E402
import operators  # noqa: E402


def row(layer, seconds, of_ceiling):
    return {"operator": "unary", "layer": layer, "engine": "", "shapes": "(2, 3) -> (2, 3)", "seconds": seconds,
            "share": 0.001, "flops": 6.0, "bytes": 48.0, "of_ceiling": of_ceiling}


class Operators(unittest.TestCase):
    def test_networks_are_configurations_whose_layers_have_names_of_their_own(self):
        self.assertEqual(len({network.name for network in operators.NETWORKS}), len(operators.NETWORKS))
        for network in operators.NETWORKS:
            layers = tomllib.loads(network.toml())["network"]["layers"]
            names = [layer["name"] for layer in layers if "name" in layer]
            self.assertEqual(names, [name for name, _ in network.layers])
            self.assertEqual(len(set(names)), len(names))

    def test_only_a_networks_own_layers_are_rows_and_kinds_are_told_apart(self):
        network = operators.NETWORKS[0]
        records = [{"operators": [row("tanh", seconds, part), row("silu", 3e-6, 0.1), row("dense_1", 1e-6, 0.5)]}
                   for seconds, part in ((2e-6, 0.4), (1e-6, 0.2))]
        found = {each["operator"]: each for each in kernels.kernels_of(network.name, "train", 16, records, network)}
        self.assertEqual(list(found), ["unary tanh", "unary silu"])
        self.assertEqual(found["unary tanh"]["seconds"], [2e-6, 1e-6])
        self.assertEqual(kernel_tables.seconds_of(found["unary tanh"]), 1e-6)
        self.assertEqual(kernel_tables.of_roof(found["unary tanh"], {}), 0.4)


if __name__ == "__main__":
    unittest.main()
