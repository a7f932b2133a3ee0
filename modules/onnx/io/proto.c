/* Fields of protocol buffers. */
#include "modules/onnx/io/proto.h"

static la_status proto_truncated(const la_proto *p)
{
    return la_error(LA_EIO, "truncated at byte %lld",
                    (long long)(p->end - p->file));
}

/* Seven bits a byte, the lowest first; a byte below 128 ends the number. */
la_status la_proto_varint(la_proto *p, uint64_t *out)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (p->at >= p->end) return proto_truncated(p);
        unsigned byte = *p->at++;
        if (shift == 63 && byte > 1) break;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = value;
            return LA_OK;
        }
    }
    return la_error(LA_EIO, "a number of more than 64 bits before byte %lld",
                    la_proto_at(p));
}

/* Little endian, whatever the machine. */
static la_status proto_fixed(la_proto *p, size_t n, uint64_t *out)
{
    uint64_t value = 0;
    if (la_proto_left(p) < n) return proto_truncated(p);
    for (size_t k = 0; k < n; k++) value |= (uint64_t)p->at[k] << 8 * k;
    p->at += n;
    *out = value;
    return LA_OK;
}

static la_status proto_part(la_proto *p, la_proto *out)
{
    uint64_t n;
    LA_TRY(la_proto_varint(p, &n));
    if (n > la_proto_left(p)) return proto_truncated(p);
    *out = (la_proto){p->file, p->at, p->at + n};
    p->at += n;
    return LA_OK;
}

la_status la_proto_next(la_proto *p, la_proto_field *out)
{
    uint64_t key;
    long long began = la_proto_at(p);
    LA_TRY(la_proto_varint(p, &key));
    *out = (la_proto_field){.number = (uint32_t)(key >> 3),
                            .wire = (la_wire)(key & 7)};
    if (key >> 32 || out->number == 0)
        return la_error(LA_EIO, "no field has such a number, at byte %lld",
                        began);
    switch (out->wire) {
    case LA_WIRE_VARINT: return la_proto_varint(p, &out->bits);
    case LA_WIRE_8: return proto_fixed(p, 8, &out->bits);
    case LA_WIRE_4: return proto_fixed(p, 4, &out->bits);
    case LA_WIRE_BYTES: return proto_part(p, &out->part);
    default:
        return la_error(LA_EIO, "a field of an unknown kind (%d) at byte %lld",
                        (int)out->wire, began);
    }
}

la_status la_proto_count(const la_proto *part, la_wire wire, int64_t *out)
{
    size_t n = la_proto_left(part), size = wire == LA_WIRE_8 ? 8 : 4;
    int64_t count = 0;
    if (wire == LA_WIRE_VARINT) {
        for (const unsigned char *p = part->at; p < part->end; p++)
            count += *p < 128;
        if (n && part->end[-1] >= 128) return proto_truncated(part);
    } else {
        if (n % size) return proto_truncated(part);
        count = (int64_t)(n / size);
    }
    *out = count;
    return LA_OK;
}

la_status la_proto_packed(la_proto *part, la_wire wire, uint64_t *out)
{
    if (wire == LA_WIRE_VARINT) return la_proto_varint(part, out);
    return proto_fixed(part, wire == LA_WIRE_8 ? 8 : 4, out);
}
