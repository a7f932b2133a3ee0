-- Arguments that float32 holds, and the correctly rounded float64 results, by
-- mpmath with 60 digits: random ones, and those where a method is weakest (the
-- ends of its intervals, results that cancel, powers near overflow). Run as a
-- program it prints what is further off than a unit in the last place, and the
-- bits of all results, so that paths can be compared.
local la = require "lunarray"

local M = {}

M.unary = {
  exp2 = {
    {0x1.894912p4, 0x1.7ec57e03605cep24},
    {0x1.82dbf4p5, 0x1.47f718314d061p48},
    {0x1.d84f48p5, 0x1.06f651dcbe9e6p59}, {0x1.61f5d2p6, 0x1.678d75055a16p88},
    {0x1.7fd674p5, 0x1.f8d9d1c4ef44ep47},
    {0x1.51dc28p6, 0x1.615c3f9a60772p84},
    {-0x1.78cbbap6, 0x1.be0bbe51046dep-95},
    {-0x1.b807bp2, 0x1.17144671315c1p-7}, {0x1p-1, 0x1.6a09e667f3bcdp0},
    {-0x1p-1, 0x1.6a09e667f3bcdp-1}, {0x1.0c6f7ap-20, 0x1.00000ba10ba5ap0}},
  expm1 = {
    {0x1.c373a8p5, 0x1.54f291647405ap81},
    {0x1.2f154ap5, 0x1.93ae5040f5d0dp54},
    {0x1.ae0dc8p5, 0x1.77fe82a639be1p77}, {0x1.08724ap2, 0x1.ea6837094b74bp5},
    {0x1.a8d254p4, 0x1.3c607c7de0851p38}, {0x1.91174p3, 0x1.0f224612a69c9p18},
    {0x1.f41c66p4, 0x1.1147061af0da2p45}, {0x1.09443p5, 0x1.c965f91dc766cp47},
    {0x1.5c28f6p-2, 0x1.9eaa951e94198p-2},
    {0x1.70a3d8p-2, 0x1.bbbab61ffb223p-2},
    {-0x1.666666p-2, -0x1.2e663e8af3182p-2},
    {0x1.a36e2ep-14, 0x1.a3738c6f6e78ap-14}, {-0x1.9p5, -0x1p0},
    {0x1.54p6, 0x1.8bec7503ca477p122}},
  log = {
    {0x1.bc83e6p-2, -0x1.ab41f1cd4bf43p-1},
    {0x1.ed4f8ap-1, -0x1.309f7e5bc1ddfp-5},
    {0x1.206c68p0, 0x1.e8751c1c277b5p-4}, {0x1.6428e4p1, 0x1.05fa33f14c7d7p0},
    {0x1.32088ep1, 0x1.be4abfa923ad5p-1},
    {0x1.a143ep-1, -0x1.a306c90e196ddp-3},
    {0x1.3c7d92p1, 0x1.cf7ea1704c74p-1},
    {0x1.8586f6p-1, -0x1.17f3cc32eb40cp-2},
    {0x1.7cccccp0, 0x1.96a08cea9d0b9p-2}, {0x1.6ap-1, -0x1.630030b3aac49p-2},
    {0x1.00068ep0, 0x1.a37aa13ef756bp-14},
    {0x1.93e594p99, 0x1.144f6a00a27fbp6},
    {0x1.4484cp-100, -0x1.144f69ff6981bp6}},
  log2 = {
    {0x1.00b02ep1, 0x1.00fdd5207616fp0},
    {0x1.757646p-1, -0x1.d21b514b525ccp-2},
    {0x1.9e534cp-2, -0x1.4e2d5bd3218dp0}, {0x1.553418p1, 0x1.6a1becbdf9fcbp0},
    {0x1.e3a0dap-1, -0x1.50e0332714313p-4},
    {0x1.eba606p-1, -0x1.df5df5f54ed1p-5},
    {0x1.7a2656p1, 0x1.901491988fb0ep0}, {0x1.55898cp1, 0x1.6a786078cf748p0},
    {0x1.69p0, 0x1.fbc16b902680ap-2}, {0x1.01p0, 0x1.709c46d7aac77p-8},
    {0x1.93e594p99, 0x1.8ea1a18f95887p6},
    {0x1.4484cp-100, -0x1.8ea1a18dd1fb1p6}},
  log10 = {
    {0x1.26f626p0, 0x1.f8041a0dff256p-5},
    {0x1.732e0cp1, 0x1.d978afd6ead7fp-2}, {0x1.cd4eap0, 0x1.05e36171ade01p-2},
    {0x1.14c83p1, 0x1.56f7534364a84p-2},
    {0x1.dd670ap-1, -0x1.f1d515007943p-6},
    {0x1.6c5b58p1, 0x1.d138749de69fp-2}, {0x1.190baep1, 0x1.5dc3b3ca2c92p-2},
    {0x1.74df62p1, 0x1.db7eb1cb7f30ap-2}, {0x1.69p0, 0x1.31b3055c47118p-3},
    {0x1.01p0, 0x1.bbd9e9482af09p-10}, {0x1.93e594p99, 0x1.e0000001c1158p4},
    {0x1.4484cp-100, -0x1.dfffffffa15c6p4}},
  log1p = {
    {0x1.4af4b2p1, 0x1.46e4794ff1765p0}, {0x1.0fa4b2p-2, 0x1.e1e0291c577cp-3},
    {0x1.046c9p-1, 0x1.a513feef4e97p-2},
    {-0x1.02d68p-2, -0x1.2a6097091933fp-2},
    {-0x1.53b99p-2, -0x1.9cc950c89b10cp-2},
    {-0x1.4abaa2p-1, -0x1.09d01aa339ea9p0},
    {0x1.19e86p-2, 0x1.f20951f5f39a6p-3},
    {0x1.73bebap0, 0x1.cb3de63a7ac98p-1}, {0x1.f8p-2, 0x1.99d958117e08bp-2},
    {0x1.f2b02p-2, 0x1.96486d2869364p-2}, {0x1.a8p-2, 0x1.62c82f2b9c795p-2},
    {-0x1.2cp-2, -0x1.630030b3aac49p-2},
    {0x1.4f8b58p-17, 0x1.4f8aea0cb0ff9p-17},
    {0x1.5af1d8p66, 0x1.7069e2acdb3f2p5}},
  tan = {
    {-0x1.3dd5b6p5, 0x1.02b6c01968ef8p1},
    {0x1.c782fep3, -0x1.46eac55036143p3},
    {-0x1.9efbeap3, -0x1.b33648db12f22p-2},
    {-0x1.e681f8p3, 0x1.1ac575ab0c891p-1}, {0x1.97b4p4, 0x1.74493aa51b922p-2},
    {-0x1.8a56aep0, -0x1.06fad94ee6985p5},
    {-0x1.d791d4p3, 0x1.76b05f4ab252fp0},
    {-0x1.80a5cp0, -0x1.d4049ed1f9fb7p3},
    {0x1.91eb86p-1, 0x1.ff97ac1944ecap-1},
    {-0x1.926e98p-1, -0x1.004eeee5b6773p0}, {0x1.92p0, 0x1.025b5db6e3313p11},
    {0x1.77p11, -0x1.cc16e4e491e8p-3}, {0x1.6p4, 0x1.220d129b73ef8p-7}},
  asin = {
    {0x1.a32992p-2, 0x1.afd9a3755620ep-2},
    {-0x1.c5a18cp-1, -0x1.16b14128fc072p0},
    {0x1.e6808p-1, 0x1.40fde6dfd225ep0},
    {-0x1.e895eep-1, -0x1.446783ae6a2dp0},
    {0x1.ff9488p-2, 0x1.0bd7199eb2f72p-1},
    {0x1.612874p-1, 0x1.85b6c1ea88394p-1},
    {-0x1.ed7fb4p-1, -0x1.4d181ae55bba8p0},
    {0x1.26a4dep-1, 0x1.39f39e332eb89p-1}, {0x1p-1, 0x1.0c152382d7366p-1},
    {0x1.004p-1, 0x1.0c5f0d34b777p-1}, {-0x1.fff2e4p-1, -0x1.8e80cdf0968ccp0},
    {0x1.4f8b58p-17, 0x1.4f8b58001804fp-17}},
  acos = {
    {-0x1.120dep-2, 0x1.d77b9c0c6b90bp0},
    {0x1.419cf6p-3, 0x1.69c14fc1db49ep0},
    {-0x1.f6b428p-1, 0x1.79b1ea3f09466p1},
    {-0x1.d026c4p-1, 0x1.5a586eea01d9dp1},
    {-0x1.46bd0ap-1, 0x1.21a6d3595e2c6p1},
    {0x1.d21aaep-1, 0x1.b4e2115771a8ap-2},
    {-0x1.36c306p-1, 0x1.1c8bfb6d2c156p1},
    {0x1.05dfc4p-1, 0x1.08ad914889d86p0}, {0x1p-1, 0x1.0c152382d7366p0},
    {-0x1p-1, 0x1.0c152382d7366p1}, {0x1.fff2e4p-1, 0x1.cf73a9d622645p-7},
    {-0x1.fff2e4p-1, 0x1.9050419a6caf2p1},
    {0x1.4f8b58p-17, 0x1.921f0d7e96d18p0}},
  atan = {
    {0x1.49f9acp1, 0x1.3364d7ba2dbb5p0}, {0x1.537d5ap1, 0x1.35d26178e20f9p0},
    {-0x1.de0f2p-1, -0x1.80941847bf6b2p-1},
    {-0x1.be1346p-1, -0x1.6ef2e61e565fap-1},
    {0x1.2f8936p-3, 0x1.2d579fce9af39p-3},
    {0x1.a75384p0, 0x1.06e31a3a3d03fp0},
    {-0x1.2d03f2p1, -0x1.2b321773f3b7dp0},
    {0x1.7d8a18p0, 0x1.f5ab60cf6bf3ep-1}, {0x1.ffp-1, 0x1.919f953eed7c9p-1},
    {0x1.008p0, 0x1.929f954998267p-1}, {0x1.4p5, 0x1.8bb9a63718f45p0},
    {0x1.2a05f2p33, 0x1.921fb543d4dep0},
    {0x1.4f8b58p-17, 0x1.4f8b57ffcff63p-17}},
  sinh = {
    {0x1.c88a4ap0, 0x1.720811d0f08b1p1}, {0x1.143ec8p1, 0x1.114551fc7457ep2},
    {-0x1.63ddfp1, -0x1.00f75a46b2ae1p3}, {0x1.565fe2p1, 0x1.ce18ee279afdfp2},
    {-0x1.39f95p1, -0x1.712892e8c0d69p2},
    {-0x1.e93ebep-1, -0x1.1b9628eaabb0bp0},
    {0x1.547652p-1, 0x1.6e1d186914cf5p-1},
    {0x1.41174ap1, 0x1.8692807897ec8p2},
    {0x1.5c28f6p-2, 0x1.62e821c018e85p-2},
    {0x1.666666p-2, 0x1.6dc3248cdd492p-2},
    {0x1.a36e2ep-14, 0x1.a36e2e0bba664p-14}, {0x1.38p4, 0x1.18a2aae0aa052p27},
    {-0x1.4p4, -0x1.ceb088b68e804p27}, {0x1.54p6, 0x1.8bec7503ca477p121},
    {0x1.5ep6, 0x1.2d7566d26536bp125}},
  cosh = {
    {-0x1.eba4f4p-1, 0x1.7f6071c8b3b04p0},
    {0x1.45c8a6p1, 0x1.9a5ea799018cfp2}, {0x1.155d6ep-2, 0x1.0972d69ddee3p0},
    {-0x1.201384p0, 0x1.b3eda6a6db269p0},
    {-0x1.19652ep0, 0x1.aade0d469289ap0},
    {-0x1.ef64e6p0, 0x1.c47098ccbf6e3p1},
    {-0x1.43f1fep1, 0x1.9496f92d6ad82p2},
    {-0x1.0dab5ap1, 0x1.0afd881f2badfp2},
    {0x1.5c28f6p-2, 0x1.0ef09cd79ecc5p0}, {0x1.38p4, 0x1.18a2aae0aa052p27},
    {-0x1.4p4, 0x1.ceb088b68e804p27}, {0x1.54p6, 0x1.8bec7503ca477p121},
    {0x1.5ep6, 0x1.2d7566d26536bp125}},
  asinh = {
    {0x1.17d46ap0, 0x1.e4312163aaf78p-1}, {0x1.1c95f6p0, 0x1.ea95396eeb452p-1},
    {0x1.2b9bc6p0, 0x1.fe631169d4d93p-1},
    {0x1.22927ap0, 0x1.f28b32a56aaa2p-1}, {0x1.7d7c78p1, 0x1.cfed7fb21fb2ep0},
    {-0x1.03f204p1, -0x1.7513f35f9ea7ep0},
    {-0x1.5ab642p1, -0x1.b8d93c0030593p0}, {0x1.75c8fp1, 0x1.cafbb1cb4d43ap0},
    {0x1.9c0698p-3, 0x1.994bb4a075c98p-3},
    {-0x1.211cacp-1, -0x1.139b90e86ae8dp-1},
    {-0x1.937374p0, -0x1.3c768bb792181p0}, {0x1p-1, 0x1.ecc2caec5160ap-2},
    {0x1.4f8b58p-17, 0x1.4f8b57ffe7fb1p-17},
    {0x1.333334p0, 0x1.0416d13c06b28p0}, {0x1.2a05f2p33, 0x1.7b810429a7c2ap4},
    {0x1.08b2a2p83, 0x1.d20fec0e92fd6p5}},
  acosh = {
    {0x1.14b1p0, 0x1.98fc1da8a2b78p-2}, {0x1.1568f8p0, 0x1.9fee91c4790f5p-2},
    {0x1.6414aap1, 0x1.aeaa01ca4a906p0}, {0x1.bd4c28p1, 0x1.eb24e549d722cp0},
    {0x1.2ef9b4p1, 0x1.81bf3ca841383p0}, {0x1.21f46ep1, 0x1.7547545b1c21p0},
    {0x1.2ac87cp0, 0x1.2408266cebfccp-1}, {0x1.dfc548p1, 0x1.ff02bdd6201e5p0},
    {0x1.19214p0, 0x1.c217281ffab7ep-2}, {0x1.3d8756p1, 0x1.8eeef6fb17091p0},
    {0x1.004p0, 0x1.6a025bf510baep-5}, {0x1.8p0, 0x1.ecc2caec5160ap-1},
    {0x1.2a05f2p33, 0x1.7b810429a7c2ap4},
    {0x1.08b2a2p83, 0x1.d20fec0e92fd6p5}},
  atanh = {
    {0x1.5a8d34p-1, 0x1.a586bdbe3bdc1p-1},
    {-0x1.7a4b62p-1, -0x1.e55a837b9d6cp-1},
    {0x1.da72ep-2, 0x1.00ca163bdb07cp-1},
    {0x1.cc97fep-1, 0x1.7858ac4c62a53p0},
    {0x1.0b0ec8p-2, 0x1.115f4a7e42997p-2},
    {0x1.26ebfap-1, 0x1.501ebca382b7ep-1},
    {-0x1.92cf6cp-1, -0x1.10149faeb252p0},
    {-0x1.0c0fdcp-3, -0x1.0d9bd3eb2914p-3},
    {0x1.5e9e1cp-3, 0x1.621ac7f1d7ebep-3},
    {0x1.60418ap-3, 0x1.63caefaceb1fep-3},
    {0x1.ffe5cap-1, 0x1.26bb5f0d55414p2},
    {0x1.4f8b58p-17, 0x1.4f8b58003009dp-17},
    {-0x1.8a3d7p-1, -0x1.05343267f79dap0}},
  cbrt = {
    {-0x1.9411c2p2, -0x1.d926561b223c8p0},
    {0x1.8d222ap2, 0x1.d66d482a921a1p0},
    {-0x1.d8c042p1, -0x1.8bb6a3bb43a34p0},
    {-0x1.afb96cp-1, -0x1.e3b4ecff06265p-1},
    {0x1.1f98c6p3, 0x1.0a205c8b49727p1}, {0x1.95cb8ap2, 0x1.d9d2871b2af43p0},
    {0x1.122e2cp3, 0x1.05ec0c9f6ed52p1},
    {-0x1.ac2ceap-1, -0x1.e260b142bd31ap-1},
    {0x1.4484cp-100, 0x1.b7cdfda54885ep-34},
    {0x1.93e594p99, 0x1.2a05f21914409p33},
    {0x1.00068ep0, 0x1.00022f508f50fp0}, {0x1.fffe5cp2, 0x1.ffff73ffd9b7fp0}},
}

M.binary = {
  pow = {
    {0x1.3bb292p2, 0x1.0863c8p2, 0x1.6cea6002959c1p9},
    {0x1.35ebdap2, -0x1.e17bep1, 0x1.5b2d21f0f55d5p-9},
    {0x1.063dbp2, -0x1.973984p2, 0x1.099a2b9714e78p-13},
    {0x1.ea890cp1, 0x1.194fb2p3, 0x1.06fa0718f289bp17},
    {0x1.33450ap3, 0x1.2486fcp1, 0x1.5fa5cca656be6p7},
    {0x1.42c54cp2, -0x1.74251ap1, 0x1.28c01d4c4318ap-7},
    {0x1.f7050ep-1, -0x1.064c7ap2, 0x1.134168b939496p0},
    {0x1.f5e32p2, 0x1.a73ac8p2, 0x1.914e9e5e67585p19},
    {0x1.d6ac3p1, 0x1.497f7ep2, 0x1.97cb0f4d315eap9},
    {0x1.f1601cp2, 0x1.c059d6p1, 0x1.48f671c6de219p10},
    {0x1.004p0, 0x1.388p16, 0x1.93417b36ee825p112},
    {0x1.ff8p-1, 0x1.388p16, 0x1.2d2899b8695b2p-113},
    {0x1.cp1, 0x1.04p6, 0x1.6493b7cf96b1fp117},
    {0x1.333334p-2, -0x1.18p6, 0x1.80b3088c37c2cp121},
    {0x1.cp0, -0x1.2cp7, 0x1.dca44d89dd982p-122},
    {-0x1.cp0, -0x1.2ep7, -0x1.105de32a357b8p-122},
    {-0x1.4p1, 0x1.cp2, -0x1.312dp9},
    {0x1.00068ep0, 0x1.f4p9, 0x1.1aed522842299p0},
    {0x1.84p-1, 0x1.2cp8, 0x1.f6cddab1f8bbfp-121},
    {0x1.83f7cep0, 0x1.9p7, 0x1.f1925ef7dda69p119},
    {0x1p1, 0x1p-1, 0x1.6a09e667f3bcdp0},
    {0x1.cp2, 0x1.555556p-2, 0x1.e9b5dc4453fcfp0}},
  atan2 = {
    {0x1.a3e32p0, 0x1.4c566cp1, 0x1.20780219adc1cp-1},
    {-0x1.5d9d5cp0, 0x1.05b898p1, -0x1.2d7fdbdd30218p-1},
    {-0x1.188266p1, -0x1.252aa8p-3, -0x1.a2d274e515a3ap0},
    {0x1.5946dap1, 0x1.e8a90ep0, 0x1.e8f10c6a7d3b1p-1},
    {-0x1.07de9p1, 0x1.1d2682p2, -0x1.bbc0aca70dcdap-2},
    {0x1.7f364p0, 0x1.9cfbc2p-1, 0x1.13994d5d24d03p0},
    {-0x1.3896ap2, 0x1.e12fcep-2, -0x1.7991d3e2f5b03p0},
    {-0x1.3f1d26p1, 0x1.b767e8p0, -0x1.ef89624708992p-1},
    {-0x1.7b8138p-2, 0x1.955998p1, -0x1.dd2f24353f593p-4},
    {0x1.797046p0, 0x1.7cf612p1, 0x1.d6fb0eabcb3f1p-2},
    {-0x1.856a68p0, 0x1.70cd2cp0, -0x1.a00a613464dbbp-1},
    {0x1.306b44p1, 0x1.a414dcp1, 0x1.4111e37aefb65p-1},
    {0x1.8p1, 0x1.802p1, 0x1.920a60d27562ep-1},
    {-0x1.8p1, 0x1.7fep1, -0x1.92350b7d2cb1fp-1},
    {0x1.b7cdfep-34, 0x1p1, 0x1.b7cdfep-35},
    {0x1p1, 0x1.b7cdfep-34, 0x1.921fb5440bd7cp0},
    {0x1.b7cdfep-34, -0x1p1, 0x1.921fb5442754ap1},
    {-0x1p1, -0x1.b7cdfep-34, -0x1.921fb54479cb4p0},
    {0x1.5af1d8p66, 0x1.158e46p63, 0x1.789bd2cab9eedp0}},
}

-- Arguments that only float64 holds.
M.unary64 = {
  atan = {
    {0x1.035c5f648f501p0, 0x1.95767533e2cc8p-1},
    {0x1.00e1a2018606fp0, 0x1.9300f3f3e8bd2p-1}},
}

-- Units in the last place of the result that a result may be off: results of
-- float32 are compared with the float64 result as it is.
local digits = {float64 = 53, float32 = 24}
local allowed = {float64 = 1, float32 = 1.05}

local function ulp(x, dtype)
  if x == 0 then return 2.0 ^ -1074 end
  local exponent = math.floor(math.log(math.abs(x), 2))
  if 2.0 ^ exponent > math.abs(x) then exponent = exponent - 1 end
  return 2.0 ^ (exponent - digits[dtype] + 1)
end

local function column(rows, k, dtype)
  local values = {}
  for i, row in ipairs(rows) do values[i] = row[k] end
  return la.tensor(values, {dtype = dtype})
end

local function check(name, rows, arity, dtype)
  local out = arity == 1 and la[name](column(rows, 1, dtype))
    or la[name](column(rows, 1, dtype), column(rows, 2, dtype))
  out = out:to("float64")
  for i, row in ipairs(rows) do
    local got, want = out[i]:item(), row[arity + 1]
    local off = math.abs(got - want) / ulp(want, dtype)
    if off > allowed[dtype] or off ~= off then
      print(("off %s %s row %d: got %a, want %a"):format(name, dtype, i, got,
        want))
    end
    print(("bits %s %s %d %a"):format(name, dtype, i, got))
  end
end

local function sorted(rows)
  local names = {}
  for name in pairs(rows) do names[#names + 1] = name end
  table.sort(names)
  return ipairs(names)
end

for _, dtype in ipairs {"float64", "float32"} do
  for _, name in sorted(M.unary) do check(name, M.unary[name], 1, dtype) end
  for _, name in sorted(M.binary) do check(name, M.binary[name], 2, dtype) end
end
for _, name in sorted(M.unary64) do
  check(name, M.unary64[name], 1, "float64")
end
print("done " .. la.cpu_capability())
