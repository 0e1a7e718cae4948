# SPDX-License-Identifier: Apache-2.0
"""The tables beside the main one: each module here makes one of a result, or None where that has
nothing to say."""
import neighbour

MODULES = (neighbour,)


def of(result):
    found = [module.table(result) for module in MODULES]
    return [each for each in found if each and each.rows]
