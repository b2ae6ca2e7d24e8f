"""A model file taken apart and put together again, with the right sum over what was changed."""

from __future__ import annotations

import json
import pathlib
import struct
import zlib

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "crates" / "tenfold" / "tests" / "golden" / "0.1.0"


def changed(kind, path, change):
    """Writes the golden model of a kind with its facts as ``change`` leaves them."""
    data = (GOLDEN / kind / "model.tenfold").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header, rest = json.loads(data[8 : 8 + size]), data[8 + size :]
    told = header.pop("__metadata__")
    facts = json.loads(told["tenfold"])
    change(facts)
    told["tenfold"] = json.dumps(facts)
    tensors = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    crc = 0
    parts = [text for name in sorted(told) if name != "crc32" for text in (name, told[name])]
    for name, about in tensors:
        parts += [name, f"{about['dtype']} [{', '.join(map(str, about['shape']))}]"]
    for part in parts:
        crc = zlib.crc32(part.encode(), zlib.crc32(struct.pack("<Q", len(part.encode())), crc))
    told["crc32"] = f"{zlib.crc32(rest, crc):08x}"
    text = json.dumps({"__metadata__": told, **header}).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + rest)
    return path
