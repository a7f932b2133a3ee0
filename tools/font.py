"""The letters of figures: lua/lunarray/plot/dejavu.lua.

    python3 tools/font.py [DejaVuSans.ttf] > lua/lunarray/plot/dejavu.lua

A part of DejaVu Sans (Debian: fonts-dejavu-core): Latin with its accents, Greek,
Cyrillic, signs of mathematics, arrows, without hints. Needs fontTools."""
import base64
import io
import sys

from fontTools import subset

PATH = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
RANGES = [(0x20, 0x7e), (0xa0, 0x17f), (0x384, 0x3ce), (0x3d1, 0x3d1),
          (0x3d5, 0x3d6), (0x400, 0x45f), (0x490, 0x491), (0x2010, 0x2015),
          (0x2018, 0x201e), (0x2020, 0x2022), (0x2026, 0x2026),
          (0x2030, 0x2030), (0x2032, 0x2033), (0x2070, 0x2071),
          (0x2074, 0x207f), (0x2080, 0x208e), (0x20ac, 0x20ac),
          (0x2103, 0x2103), (0x2126, 0x2126), (0x2190, 0x2195),
          (0x21d2, 0x21d4), (0x2202, 0x2202), (0x2206, 0x2207),
          (0x220f, 0x220f), (0x2211, 0x2212), (0x221a, 0x221a),
          (0x221d, 0x221e), (0x2227, 0x222b), (0x2248, 0x2248),
          (0x2260, 0x2261), (0x2264, 0x2265), (0x22c5, 0x22c5)]


def main():
    options = subset.Options()
    options.hinting = False
    options.layout_features = []
    options.name_IDs = []
    options.notdef_outline = True
    options.drop_tables += ["GPOS", "GSUB", "GDEF", "kern", "post", "OS/2",
                            "name", "FFTM", "gasp", "MATH"]
    font = subset.load_font(sys.argv[1] if sys.argv[1:] else PATH, options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=[c for a, b in RANGES for c in range(a, b + 1)])
    chosen.subset(font)
    out = io.BytesIO()
    subset.save_font(font, out, options)
    text = base64.b64encode(out.getvalue()).decode()
    notice = open("/usr/share/doc/fonts-dejavu-core/copyright").read()
    start = notice.index("Files: *")
    stop = notice.index("Files:", start + 8) if "Files:" in notice[start + 8:] \
        else len(notice)
    print("-- lunarray.plot.dejavu: a part of the font DejaVu Sans in base64, by "
          "tools/font.py.\n"
          "return [==[")
    for line in notice[start:stop].rstrip().splitlines():
        print("# " + line.rstrip())
    for k in range(0, len(text), 78):
        print(text[k:k + 78])
    print("]==]")


main()
