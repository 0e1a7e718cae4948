# SPDX-License-Identifier: Apache-2.0
"""The tables beside the main one: each is made of a result, and left out where that has nothing to
say."""
import accuracy
import conditions
import energy
import footprint
import largest_batch
import latency
import scaling

MAKERS = (latency.table, footprint.installed_table, scaling.table, accuracy.table,
          *conditions.TABLES, footprint.beside_table, footprint.first_step_table,
          largest_batch.table, energy.table, footprint.disk_table)


def of(result):
    found = [make(result) for make in MAKERS]
    return [each for each in found if each and each.rows]
