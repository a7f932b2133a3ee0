/*
** Coefficients for the incomplete gamma function (gamma.h), from exact rational
** numbers, rounded.
**
** Temme's expansion (N. Temme, The asymptotic expansion of the incomplete gamma
** functions, 1979; DLMF 8.12): C_k(eta) = d(k, 0) + d(k, 1) eta + ..., kept as
** far as they count for a >= 20 and |eta| <= 0.34.
*/
#ifndef LA_KERNEL_POINTWISE_SPECIAL_GAMMA_COEF_H
#define LA_KERNEL_POINTWISE_SPECIAL_GAMMA_COEF_H

enum { TEMME_ROWS = 12, ZETAS = 30 };
/* How many coefficients the rows have; they follow one another. */
static const unsigned char temme_length[] = {
    16, 15, 14, 13, 11, 11, 9, 8, 7, 5, 3, 1};
static const double temme[] = {
    -0x1.5555555555555p-2, 0x1.5555555555555p-4, -0x1.e573ac901e574p-7,
    0x1.2f684bda12f68p-10, 0x1.71de3a556c734p-12, -0x1.76e06fec7273bp-13,
    0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19, -0x1.f1b22f594c6b5p-20,
    0x1.bd6d21e4b4109p-21, -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28,
    0x1.6097d55c37c1cp-27, -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31,
    -0x1.c0d9b6edf2b0bp-36,
    -0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9, 0x1.5ac056b015ac0p-9,
    -0x1.0394f6f09e723p-10, 0x1.af83440e53dbcp-13, -0x1.af83440e53dbcp-22,
    -0x1.2fa4ae89e5af0p-16, 0x1.00a9cabd6b83ep-17, -0x1.b0bdfcc629cbap-20,
    0x1.3f59230a8357cp-28, 0x1.280f2cde3f847p-23, -0x1.ee23d0cba8aeep-25,
    0x1.9aa7a30de114cp-27, -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30,
    0x1.0ee643b990ee6p-8, -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9e0p-11,
    0x1.0db20a88f4696p-19, -0x1.c253efaa1a932p-14, 0x1.bbf43daf4fe53p-15,
    -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25, 0x1.7058929663937p-20,
    -0x1.522cb05171911p-21, 0x1.32ac81c15d3d7p-23, -0x1.c24bd0e740a6cp-33,
    -0x1.e437343a46f5dp-27, 0x1.ac0d455e25360p-28,
    0x1.547d93b34e2b6p-11, 0x1.e13ce465fa859p-13, -0x1.ebfb188b7ca00p-12,
    0x1.18b9b5bf2d984p-12, -0x1.3d2a3a29b5d9dp-14, -0x1.0152a1871f27ap-22,
    0x1.73df462204ef4p-17, -0x1.7cd6f27b3f020p-18, 0x1.7e0201539310ep-20,
    -0x1.ea23269c140a7p-36, -0x1.6c2dcffbefeefp-23, 0x1.5bde8ef4c4dc7p-24,
    -0x1.4853ced169327p-26,
    -0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11, -0x1.3999a85a4237ap-12,
    -0x1.88f2ae1def9d0p-20, 0x1.16908b48ce058p-14, -0x1.4ce3fd902bcadp-15,
    0x1.7db4c02846e81p-17, 0x1.13b3c5b7cb45ep-32, -0x1.c71c074985d3fp-20,
    0x1.de37d9f09164cp-21, -0x1.ec676cf33153cp-23,
    -0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12,
    -0x1.a2042c5148e27p-13, 0x1.1d1e9cb24760bp-14, 0x1.30bdcf208080ep-23,
    -0x1.c823fc1b3cc36p-17, 0x1.0d0e229150428p-17, -0x1.338eb19652fd9p-19,
    -0x1.659cfde0bb2ebp-32, 0x1.741504e5c87c2p-22,
    0x1.168ef1b0931c8p-11, -0x1.36773bdb97b48p-11, 0x1.1c0950d3ecb9dp-12,
    0x1.a8411da6cab49p-21, -0x1.5600945495b37p-14, 0x1.d6bdf83130dc1p-15,
    -0x1.3382f4cf48618p-16, -0x1.a74243fa27729p-29, 0x1.d115d4f5dcc68p-19,
    0x1.691879c01efb4p-12, 0x1.b1d75d3346711p-15, -0x1.5f3385098cebfp-12,
    0x1.26eeb5ece1d9fp-12, -0x1.cc642787368cep-14, -0x1.119c70312e0a2p-23,
    0x1.d179830b113abp-16, -0x1.3269164e3e304p-16,
    -0x1.5629b3187b744p-11, 0x1.b8239c670e690p-11, -0x1.cb967b4446107p-12,
    -0x1.762676b30cfd6p-21, 0x1.5d1157082916dp-13, -0x1.0c16fcea7ddb2p-13,
    0x1.84637d3f583cdp-15,
    -0x1.38dff1cc96982p-11, -0x1.2e31f9b7913eap-14, 0x1.63969bb825829p-11,
    -0x1.4f9f2582dd0a5p-11, 0x1.22fb20c28e8a0p-12,
    0x1.5d4ae684527bfp-10, -0x1.f5dbcaf756cdep-10, 0x1.22b37f1b46951p-10,
    0x1.9e1dba8ec5904p-10,
};
/* zeta(k) - 1 for k = 2, 3, ... */
static const double zeta_less_1[ZETAS] = {
    0x1.4a34cc4a60fa6p-1, 0x1.9dd002780310ap-3, 0x1.51322ac7d8483p-4,
    0x1.2e831d94f99b7p-5, 0x1.1c26130249124p-6, 0x1.1196d0a679c47p-7,
    0x1.0b36af86396e9p-8, 0x1.073e7b02d6ae0p-9, 0x1.04b8ce96ee5f8p-10,
    0x1.0318df2459954p-11, 0x1.020a5b2cd3042p-12, 0x1.01593a1177bd6p-13,
    0x1.00e4af2b4e156p-14, 0x1.0097bcbf11bedp-15, 0x1.0064cdeb22f0fp-16,
    0x1.0043073686681p-17, 0x1.002c9953744ccp-18, 0x1.001db08f9ba4ap-19,
    0x1.0013c594466eap-20, 0x1.000d2bab28121p-21, 0x1.0008c66cec77dp-22,
    0x1.0005d8f13858cp-23, 0x1.0003e59ffde12p-24, 0x1.000298ea55633p-25,
    0x1.0001bb316ccdap-26, 0x1.0001276b90845p-27, 0x1.0000c4ed05ae3p-28,
    0x1.0000834601a87p-29, 0x1.00005782aaebep-30, 0x1.00003a56719b9p-31,
};

#endif
