"""Writes what la.tokenizer knows of Unicode, from Python's unicodedata:

    python3 unicode.py          # writes unicode_*.h here
"""
import os
import unicodedata as u

CATEGORIES = ("Cn Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi "
              "Po Ps Sc Sk Sm So Zl Zp Zs").split()
ALL = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]


out = None


def begin(name, what):
    global out
    here = os.path.dirname(os.path.abspath(__file__))
    out = open(os.path.join(here, name + ".h"), "w")
    guard = "LA_TOKENIZER_" + name.upper() + "_H"
    out.write("/*\n** Unicode %s:\n** %s. Made by unicode.py.\n*/\n"
              "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n"
              % (u.unidata_version, what, guard, guard))


def array(kind, name, values, what):
    out.write("/* %s */\n" % what)
    out.write("static const %s %s[%d] = {\n" % (kind, name, len(values)))
    line = "   "
    for i, v in enumerate(values):
        text = " %d%s" % (v, "," if i + 1 < len(values) else "};")
        if len(line) + len(text) > 80:
            out.write(line + "\n")
            line = "   "
        line += text
    out.write(line + "\n\n")


def end():
    out.write("#endif\n")
    out.close()


def categories():
    runs, last = [], None
    for c in range(0x110000):
        k = CATEGORIES.index(u.category(chr(c)))
        if k != last:
            runs.append(c << 8 | k)
            last = k
    return runs


def lower():
    """first, last | step << 24 (1 or 2), difference."""
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
    return [v for f, l, s, d in runs for v in (f, l | (s or 1) << 24, d)]


def utf16(text):
    b = text.encode("utf-16-le")
    return [b[i] | b[i + 1] << 8 for i in range(0, len(b), 2)]


def decompositions(compat):
    """Codes, where their texts begin, the texts one behind the other."""
    codes, starts, data = [], [], []
    for c in ALL:
        if 0xac00 <= c <= 0xd7a3:
            continue            # Hangul follows a rule
        raw = u.decomposition(chr(c))
        if raw and raw.startswith("<") == compat:
            codes.append(c)
            starts.append(len(data))
            data += utf16(u.normalize("NFKD" if compat else "NFD", chr(c)))
    return codes, starts + [len(data)], data


def compositions():
    pairs = []
    for c in ALL:
        raw = u.decomposition(chr(c))
        if not raw or raw.startswith("<") or 0xac00 <= c <= 0xd7a3:
            continue
        parts = [int(p, 16) for p in raw.split()]
        if len(parts) == 2 and u.normalize("NFC", chr(c)) == chr(c):
            pairs.append((parts[0], parts[1], c))
    return [v for t in sorted(pairs) for v in t]


begin("unicode_categories", "categories and small letters")
array("uint32_t", "unicode_categories", categories(),
      "The first of a run << 8 | category.")
array("int32_t", "unicode_lower", lower(),
      "Runs: first, last | step << 24, difference.")
end()
begin("unicode_canonical", "canonical decompositions")
codes, starts, data = decompositions(False)
array("uint32_t", "canonical_codes", codes, "Codes in order.")
array("uint16_t", "canonical_starts", starts, "Begins of their texts.")
array("uint16_t", "canonical_texts", data, "Whole decompositions, UTF-16.")
end()
begin("unicode_compatible", "compatible decompositions")
codes, starts, data = decompositions(True)
array("uint32_t", "compatible_codes", codes, "Codes in order.")
array("uint16_t", "compatible_starts", starts, "Begins of their texts.")
end()
begin("unicode_compatible_texts", "texts of compatible decompositions")
array("uint16_t", "compatible_texts", data, "Whole decompositions, UTF-16.")
end()
begin("unicode_compositions", "canonical compositions, combining classes")
array("uint32_t", "unicode_compositions", compositions(),
      "First, second, what they are together; sorted.")
array("uint32_t", "unicode_classes",
      [c << 8 | u.combining(chr(c)) for c in ALL if u.combining(chr(c))],
      "Code << 8 | combining class.")
end()
