"""Writes what la.tokenizer knows of Unicode, from Python's unicodedata:

    python3 unicode.py          # writes unicode_data.h here
"""
import os
import unicodedata as u

CATEGORIES = ("Cn Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi "
              "Po Ps Sc Sk Sm So Zl Zp Zs").split()
HANGUL = range(0xac00, 0xd7a4)      # follows a rule
ALL = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]
DECOMPOSED = [c for c in ALL if u.decomposition(chr(c)) and c not in HANGUL]
BITS = 5                            # of a number in a letter; one says: more


def packed(numbers):
    """Letters from '~' down, the low bits of a number first."""
    letters = ""
    for v in numbers:
        assert v >= 0
        while v >> BITS:
            letters += chr(ord("~") - (v % 32 + 32))
            v >>= BITS
        letters += chr(ord("~") - v)
    return letters


def signed(v):
    return v * 2 if v >= 0 else -v * 2 - 1


def categories():
    """Runs: how far from the last one, the category."""
    last, kind = 0, None
    for c in range(0x110000):
        k = CATEGORIES.index(u.category(chr(c)))
        if k != kind:
            yield from (c - last, k)
            last, kind = c, k


def lower():
    """Runs: how far from the end of the last one, how many steps of 1 or 2, the
    difference."""
    runs = []
    for c in ALL:
        t = chr(c).lower()
        if len(t) != 1 or ord(t) == c:
            continue
        d = ord(t) - c
        if runs and runs[-1][3] == d:
            step = c - runs[-1][1]
            if step in (1, 2) and runs[-1][2] in (0, step):
                runs[-1][1], runs[-1][2] = c, step
                continue
        runs.append([c, c, 0, d])
    end = 0
    for first, last, step, d in runs:
        step = step or 1
        yield from (first - end, (last - first) // step * 2 + step - 1,
                    signed(d))
        end = last


def classes():
    """Marks: how far from the last one, the combining class."""
    last, kind = 0, 0
    for c in ALL:
        k = u.combining(chr(c))
        if k:
            yield (c - last) * 2 + (k != kind)
            if k != kind:
                yield k
            last, kind = c, k


def canonical():
    """Codes: how far from the last one; is there a second part, do the parts
    compose; the first part from that of the last one; the second."""
    last = first = 0
    for c in DECOMPOSED:
        raw = u.decomposition(chr(c))
        if raw.startswith("<"):
            continue
        parts = [int(p, 16) for p in raw.split()]
        pair = len(parts) == 2
        assert not pair or canonical_of(parts[1]) == ""
        composed = pair and u.normalize("NFC", chr(c)) == chr(c)
        yield from ((c - last) * 4 + pair * 2 + composed,
                    signed(parts[0] - first))
        if pair:
            yield parts[1]
        last, first = c, parts[0]


def canonical_of(c):
    raw = u.decomposition(chr(c))
    return "" if raw.startswith("<") else raw


def compatible():
    """Codes: how far from the last one, the length of the whole decomposition,
    each part from the one before it."""
    last = part = 0
    for c in DECOMPOSED:
        if not u.decomposition(chr(c)).startswith("<"):
            continue
        text = [ord(t) for t in u.normalize("NFKD", chr(c))]
        yield (c - last) * 2 + (len(text) > 1)
        if len(text) > 1:
            yield len(text)
        for t in text:
            yield signed(t - part)
            part = t
        last = c


def string(out, name, numbers, what):
    letters = packed(numbers)
    doc = " ".join((what.__doc__ or "").split())
    line = "/*"
    for word in (doc + " */").split():
        if len(line) + 1 + len(word) > 80:
            out.write(line + "\n")
            line = "**"
        line += " " + word
    out.write("%s\nstatic const char %s[] =\n" % (line, name))
    line = ""
    for i, c in enumerate(letters):
        line += "\\" + c if c in "?\\" else c
        if len(line) > 72 or i + 1 == len(letters):
            out.write('    "%s"%s\n' % (line, ";" * (i + 1 == len(letters))))
            line = ""
    out.write("\n")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    tables = (("unicode_categories", categories), ("unicode_lower", lower),
              ("unicode_classes", classes), ("unicode_canonical", canonical),
              ("unicode_compatible", compatible))
    compat = [c for c in DECOMPOSED if u.decomposition(chr(c))[0] == "<"]
    texts = sum(len(u.normalize("NFKD", chr(c))) for c in compat)
    pairs = [c for c in DECOMPOSED if " " in canonical_of(c)
             and u.normalize("NFC", chr(c)) == chr(c)]
    with open(os.path.join(here, "unicode_data.h"), "w") as out:
        out.write("/*\n** Unicode %s, made by unicode.py: numbers in letters,"
                  " which\n** unicode_tables.c reads.\n*/\n"
                  "#ifndef LA_TOKENIZER_UNICODE_DATA_H\n"
                  "#define LA_TOKENIZER_UNICODE_DATA_H\n\n" % u.unidata_version)
        sizes = (("CATEGORIES", len(list(categories())) // 2),
                 ("LOWER", len(list(lower())) // 3),
                 ("CLASSES", sum(u.combining(chr(c)) > 0 for c in ALL)),
                 ("CANONICAL", len(DECOMPOSED) - len(compat)),
                 ("COMPOSITIONS", len(pairs)), ("COMPATIBLE", len(compat)),
                 ("PARTS", texts))
        out.write("enum {\n%s\n};\n\n" % ",\n".join(
            "    UNICODE_%s = %d" % size for size in sizes))
        for name, numbers in tables:
            string(out, name, numbers(), numbers)
        out.write("#endif\n")


main()
