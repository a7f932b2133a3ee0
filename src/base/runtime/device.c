/* Devices of a runtime: their names and the host's hooks. */
#include "base/runtime/device.h"

#include <string.h>

#include "base/runtime/host_call.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "lunarray.h"

enum { LA_DEVICE_NAME = 32, ALIGNMENT = 64, PIECE = 1 << 16 };

/* An entry is complete before the counter says so, and stays. */
struct la_devices {
    atomic_int n;                       /* LA_CPU and LA_META included */
    la_device_def list[LA_NDEVICES];
    char name[LA_NDEVICES][LA_DEVICE_NAME];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct la_devices *devices_here(void)
{
    return atomic_load_explicit(&la_runtime_here()->devices,
                                memory_order_acquire);
}

static const la_device_def *hooks_of(la_device d)
{
    return &devices_here()->list[d];
}

/* ---- names ---- */

bool la_device_is_known(int number)
{
    struct la_devices *own = devices_here();
    return number >= 0
        && number < (own ? atomic_load(&own->n) : LA_DEVICE_EXT);
}

const char *la_device_name(la_device d)
{
    struct la_devices *own = devices_here();
    if (d < LA_DEVICE_EXT) return d == LA_CPU ? "cpu" : "meta";
    return own ? own->name[d] : "?";
}

bool la_device_parse(const char *name, size_t n, la_device *out)
{
    for (int k = 0; la_device_is_known(k); k++) {
        const char *known = la_device_name((la_device)k);
        if (strlen(known) == n && memcmp(known, name, n) == 0) {
            *out = (la_device)k;
            return true;
        }
    }
    return false;
}

/* ---- registering ---- */

static la_status check_hooks(const la_device_def *d)
{
    bool all = d->alloc && d->release && d->copy_in && d->copy_out;
    bool none = !d->alloc && !d->release && !d->copy_in && !d->copy_out
        && !d->copy;
    if (all || none) return LA_OK;
    return la_error(LA_EARG, "a device has alloc, release, copy_in and "
                    "copy_out, or no hooks at all");
}

static struct la_devices *need_devices(void)
{
    la_runtime *rt = la_runtime_here();
    struct la_devices *own = devices_here(), *none = NULL;
    if (own) return own;
    own = la_raw_alloc(rt, sizeof *own);
    if (!own) {
        la_error(LA_ENOMEM, "no memory for the table of devices");
        return NULL;
    }
    atomic_store(&own->n, LA_DEVICE_EXT);
    if (atomic_compare_exchange_strong(&rt->devices, &none, own)) return own;
    la_raw_free(rt, own, sizeof *own);
    return none;
}

/* The lock is held. */
static la_status add_device(struct la_devices *own, const la_device_def *def,
                            size_t n, la_device *out)
{
    int k = atomic_load(&own->n);
    if (la_device_parse(def->name, n, out))
        return la_error(LA_EARG, "device '%s' exists already", def->name);
    if (k == LA_NDEVICES)
        return la_error(LA_EARG, "at most %d devices can be added",
                        LA_NDEVICES - LA_DEVICE_EXT);
    memcpy(own->name[k], def->name, n + 1);
    own->list[k] = *def;
    own->list[k].name = own->name[k];
    atomic_store(&own->n, k + 1);
    *out = (la_device)k;
    return LA_OK;
}

la_status la_device_register(const la_device_def *def, la_device *out)
{
    size_t n = def->name ? strlen(def->name) : 0;
    if (n == 0 || n >= LA_DEVICE_NAME)
        return la_error(LA_EARG, "a device's name has 1 to %d bytes",
                        LA_DEVICE_NAME - 1);
    LA_TRY(check_hooks(def));
    struct la_devices *own = need_devices();
    if (!own) return LA_ENOMEM;
    pthread_mutex_lock(&lock);
    la_status status = add_device(own, def, n, out);
    pthread_mutex_unlock(&lock);
    return status;
}

void la_devices_drop(la_runtime *rt)
{
    struct la_devices *own = atomic_exchange(&rt->devices, NULL);
    la_raw_free(rt, own, sizeof *own);
}

/* ---- hooks ---- */

/* A host may return anything: what is no status of ours, or has no text of
** la_fail's, is LA_EIO. */
static la_status read_status(la_device d, const char *hook, int status)
{
    if (status == 0) return LA_OK;
    if (la_error_status() && status == (int)la_error_status())
        return la_error_status();
    return la_error(LA_EIO, "%s of device '%s' failed (%d)", hook,
                    la_device_name(d), status);
}

la_status la_device_alloc(la_device d, int64_t bytes, void **block)
{
    const la_device_def *h = hooks_of(d);
    size_t n = (size_t)bytes;
    if (!h->alloc) {
        *block = la_mem_take(n);
        return *block ? LA_OK : LA_ENOMEM;
    }
    if (!la_mem_charge(n)) return LA_ENOMEM;
    la_host_call call;
    la_host_begin(&call);
    *block = h->alloc(h->user, n, ALIGNMENT);
    la_host_end(&call);
    if (*block) return LA_OK;
    la_mem_discharge(n);
    return la_error(LA_ENOMEM, "not enough memory on device '%s' (%zu bytes "
                    "asked)", la_device_name(d), n);
}

void la_device_free(la_device d, void *block, int64_t bytes)
{
    const la_device_def *h = hooks_of(d);
    if (!block) return;
    if (!h->alloc) {
        la_mem_give(block, (size_t)bytes);
        return;
    }
    la_host_call call;
    la_host_begin(&call);
    h->release(h->user, block, (size_t)bytes);
    la_host_end(&call);
    la_mem_discharge((size_t)bytes);
}

la_status la_device_write(la_device d, void *block, int64_t offset,
                          const void *from, int64_t bytes)
{
    const la_device_def *h = hooks_of(d);
    if (bytes == 0) return LA_OK;
    if (!h->copy_in) {
        memcpy((char *)block + offset, from, (size_t)bytes);
        return LA_OK;
    }
    la_host_call call;
    la_host_begin(&call);
    return read_status(d, "copy_in", la_host_end_with(&call,
        h->copy_in(h->user, block, (size_t)offset, from, (size_t)bytes)));
}

la_status la_device_read(la_device d, void *to, const void *block,
                         int64_t offset, int64_t bytes)
{
    const la_device_def *h = hooks_of(d);
    if (bytes == 0) return LA_OK;
    if (!h->copy_out) {
        memcpy(to, (const char *)block + offset, (size_t)bytes);
        return LA_OK;
    }
    la_host_call call;
    la_host_begin(&call);
    return read_status(d, "copy_out", la_host_end_with(&call,
        h->copy_out(h->user, to, block, (size_t)offset, (size_t)bytes)));
}

/* Piece by piece through the CPU; the parts do not overlap. */
static la_status move_by_cpu(la_device d, void *to, int64_t to_offset,
                             const void *from, int64_t from_offset,
                             int64_t bytes)
{
    void *piece = la_mem_alloc(PIECE);
    la_status status = piece ? LA_OK : LA_ENOMEM;
    for (int64_t at = 0; at < bytes && !status; at += PIECE) {
        int64_t n = bytes - at < PIECE ? bytes - at : PIECE;
        status = la_device_read(d, piece, from, from_offset + at, n);
        if (!status)
            status = la_device_write(d, to, to_offset + at, piece, n);
    }
    la_mem_free(piece, PIECE);
    return status;
}

la_status la_device_move(la_device d, void *to, int64_t to_offset,
                         const void *from, int64_t from_offset, int64_t bytes)
{
    const la_device_def *h = hooks_of(d);
    if (bytes == 0) return LA_OK;
    if (!h->copy)
        return move_by_cpu(d, to, to_offset, from, from_offset, bytes);
    la_host_call call;
    la_host_begin(&call);
    return read_status(d, "copy", la_host_end_with(&call,
        h->copy(h->user, to, (size_t)to_offset, from, (size_t)from_offset,
                (size_t)bytes)));
}

la_status la_device_clear(la_device d, void *block, int64_t offset,
                          int64_t bytes)
{
    static char zeros[1 << 12];   /* constant ones would be bytes of the file */
    const int64_t most = sizeof zeros;
    for (int64_t at = 0; at < bytes; at += most)
        LA_TRY(la_device_write(d, block, offset + at, zeros,
                               bytes - at < most ? bytes - at : most));
    return LA_OK;
}
