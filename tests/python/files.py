# SPDX-License-Identifier: Apache-2.0
"""Small files that tests and notebooks read: images in folders, labelled texts, rows of a census."""
import csv
import struct
import zlib

import numpy as np

import linnet as ln


def write_png(path, image):
    """Writes a grey image (height, width) u8."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def image_folder(folder, images=200, classes=4):
    """Writes generated digits as FOLDER/CLASS/NUMBER.png, and returns the folder."""
    data = ln.datasets.digits(images, 1, 1).train
    for number, (image, label) in enumerate(zip(data.column("image"), data.column("label"))):
        path = folder / ["zero", "one", "two", "three"][label % classes] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_png(path, image.reshape(28, 28))
    return folder


def reviews(path, texts=400):
    """Writes a text a line after its label, and returns the path."""
    random = np.random.default_rng(1)
    words = [["dull", "boring", "waste", "poor"], ["wonderful", "great", "moving", "fine"]]
    with open(path, "w") as file:
        for _ in range(texts):
            label = int(random.integers(2))
            said = [*random.choice(words[label], 2), *random.choice(["film", "story", "actor", "scene", "end"], 6)]
            file.write(f"{label}\t{' '.join(random.permutation(said))}\n")
    return path


def census(path, rows=600):
    """Writes rows with the columns of the data set adult, and returns the path."""
    random = np.random.default_rng(1)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for _ in range(rows):
            age, years, hours = (int(random.integers(*span)) for span in ((17, 80), (1, 17), (10, 70)))
            job = str(random.choice(["Sales", "Tech-support", "?"]))
            rich = years + hours / 10 + random.normal() > 13
            writer.writerow([age, "Private", 1000 * age, "HS-grad", years, "Divorced", job, "Unmarried", "White",
                             random.choice(["Male", "Female"]), 0, 0, hours, "Cuba", ">50K" if rich else "<=50K"])
    return path
