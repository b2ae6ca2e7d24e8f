"""Reads what the command wrote, with the parsers of Python's own library, and looks for names that do something.

Arguments: a JSON file with a list of objects, each with `file` and `names`, the names that it must hold. A name may be changed where
its format cannot hold it; `loose` says that only its letters are looked for.
"""

import csv
import html.parser
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

FORMULA = set("=+-@\t\r\n＝＋－＠")
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text):
    """What is left of a name when all that formats may change is gone."""
    return re.sub("[^0-9A-Za-z]+", "", text)


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return re.fullmatch(r"[-+.0-9eE]+", cell) is not None


def cells_of(path, tabs):
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t" if tabs else ",", strict=True))
    widths = {len(row) for row in rows}
    assert len(widths) == 1, f"{path}: rows of {widths} cells"
    texts = set()
    for row in rows:
        for cell in row:
            harmless = len(cell) < 2 or cell[0] not in FORMULA or is_number(cell)
            assert harmless, f"{path}: a spreadsheet would compute {cell!r}"
            bare = cell.lstrip("'")
            marked = cell[:1] == "'" and len(bare) > 1 and bare[0] in FORMULA and not is_number(bare)
            texts.add(cell[1:] if marked else cell)
    return texts


def texts_of_xml(path):
    texts = set()
    for element in xml.etree.ElementTree.parse(path).iter():
        texts.update(element.attrib.values())
        texts.add(element.text or "")
    return texts


class Page(html.parser.HTMLParser):
    """Elements that run something, attributes that do, and all texts."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.scripts, self.found, self.inside = 0, [], None

    def handle_starttag(self, tag, attrs):
        self.inside = tag
        self.scripts += tag == "script"
        assert tag not in {"img", "iframe", "object", "embed", "base", "form", "b", "marquee"}, tag
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            # Places within the page, and the empty icon.
            assert name not in {"src", "href"} or value.startswith("#") or value == "data:,", (tag, name, value)
            self.found.append(value or "")

    def handle_data(self, data):
        self.found.append(data)


def texts_of_page(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", text), f"{path}: the direction of writing is turned"
    page = Page()
    page.feed(text)
    page.close()
    assert page.scripts == 2, f"{path}: {page.scripts} scripts"
    return {" ".join(page.found)}


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def check(path, names, loose):
    ending = path.suffix
    if ending in {".csv", ".tsv"}:
        texts = cells_of(path, ending == ".tsv")
    elif ending in {".gexf", ".graphml"}:
        texts = texts_of_xml(path)
    elif ending == ".html":
        texts = texts_of_page(path)
    elif ending == ".json":
        texts = set(strings(json.loads(path.read_text(encoding="utf-8"))))
    else:
        text = path.read_text(encoding="utf-8")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), f"{path}: a control character"
        texts = {text}
    for name in names:
        whole = name in texts or any(name in text for text in texts)
        found = whole or loose and any(plain(name) in plain(text) for text in texts)
        assert found, f"{path}: no {name!r} among {sorted(texts)[:40]}"


for wanted in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
    check(pathlib.Path(wanted["file"]), wanted["names"], wanted["loose"])
print("harmless")
