/* Categories and scripts as patterns name them: \p{L}, \p{Han}; for regex.c. */
#ifndef LA_TOKENIZER_REGEX_CLASSES_H
#define LA_TOKENIZER_REGEX_CLASSES_H

#include <stdint.h>

#include "modules/tokenizer/unicode.h"

#define CATEGORY(name) (UINT32_C(1) << LA_CAT_##name)
#define LETTERS (CATEGORY(LL) | CATEGORY(LM) | CATEGORY(LO) | CATEGORY(LT) \
                 | CATEGORY(LU))
#define MARKS (CATEGORY(MC) | CATEGORY(ME) | CATEGORY(MN))
#define NUMBERS (CATEGORY(ND) | CATEGORY(NL) | CATEGORY(NO))
#define POINTS (CATEGORY(PC) | CATEGORY(PD) | CATEGORY(PE) | CATEGORY(PF) \
                | CATEGORY(PI) | CATEGORY(PO) | CATEGORY(PS))
#define SIGNS (CATEGORY(SC) | CATEGORY(SK) | CATEGORY(SM) | CATEGORY(SO))
#define WORD_CHARACTERS (LETTERS | MARKS | CATEGORY(ND) | CATEGORY(NL) \
                         | CATEGORY(PC))
#define SPACES (CATEGORY(ZL) | CATEGORY(ZP) | CATEGORY(ZS))

static const struct { const char *name; uint32_t set; } properties[] = {
    {"L", LETTERS}, {"M", MARKS}, {"N", NUMBERS}, {"P", POINTS}, {"S", SIGNS},
    {"Z", SPACES}, {"Lu", CATEGORY(LU)}, {"Ll", CATEGORY(LL)},
    {"Lt", CATEGORY(LT)}, {"Lm", CATEGORY(LM)}, {"Lo", CATEGORY(LO)},
    {"Mn", CATEGORY(MN)}, {"Mc", CATEGORY(MC)}, {"Me", CATEGORY(ME)},
    {"Nd", CATEGORY(ND)}, {"Nl", CATEGORY(NL)}, {"No", CATEGORY(NO)},
    {"Pc", CATEGORY(PC)}, {"Pd", CATEGORY(PD)}, {"Pe", CATEGORY(PE)},
    {"Pf", CATEGORY(PF)}, {"Pi", CATEGORY(PI)}, {"Po", CATEGORY(PO)},
    {"Ps", CATEGORY(PS)}, {"Sc", CATEGORY(SC)}, {"Sk", CATEGORY(SK)},
    {"Sm", CATEGORY(SM)}, {"So", CATEGORY(SO)}, {"Zs", CATEGORY(ZS)},
    {"Zl", CATEGORY(ZL)}, {"Zp", CATEGORY(ZP)}, {"Cc", CATEGORY(CC)},
    {"Cf", CATEGORY(CF)}, {"C", CATEGORY(CC) | CATEGORY(CF) | CATEGORY(CO)
                                | CATEGORY(CN) | CATEGORY(CS)}};

/* Blocks of the scripts that tokenizers name. */
static const struct { const char *name; uint32_t ranges[16]; } scripts[] = {
    {"Han", {0x2e80, 0x2fd5, 0x3005, 0x3007, 0x3021, 0x3029, 0x3038, 0x303b,
             0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xf900, 0xfad9, 0x20000, 0x323af}},
    {"Hiragana", {0x3041, 0x309f}}, {"Katakana", {0x30a1, 0x30ff}},
    {"Hangul", {0x1100, 0x11ff, 0x3131, 0x318e, 0xac00, 0xd7a3}},
    {"Thai", {0xe01, 0xe5b}}, {"Arabic", {0x600, 0x6ff, 0x750, 0x77f}},
    {"Cyrillic", {0x400, 0x52f}}, {"Latin", {'A', 'Z', 'a', 'z', 0xc0, 0x24f}},
    {"Greek", {0x370, 0x3ff}}};

#endif
