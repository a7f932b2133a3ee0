/*
** A host program without a Lua script, and without a Lua state: it loads the
** weights that examples/digits_cnn.lua has saved and one image, and runs the
** network by calling operations from C.
**
**     build/examples/host_digits weights.safetensors examples/data [image]
*/
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>

/* A tensor that is NULL makes the calls after it fail as well, so that one look
** at the end is enough; the first failure's words are kept. */
static char reason[256];

static la_tensor *checked(la_tensor *t)
{
    if (!t && !reason[0])
        snprintf(reason, sizeof reason, "%s", la_error_text());
    return t;
}

static la_tensor *weight(const char *path, const char *layer, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", layer, part);
    return checked(la_load(path, name));
}

/* The result of an operation replaces its first argument. */
static void become(la_tensor **x, la_tensor *result)
{
    la_release(*x);
    *x = checked(result);
}

/* conv, batch norm, relu, pool: block k (1 or 2) of the network. */
static void block(la_tensor **x, const char *path, int k)
{
    char conv[8], norm[8];
    snprintf(conv, sizeof conv, "conv%d", k);
    snprintf(norm, sizeof norm, "norm%d", k);
    la_tensor *w = weight(path, conv, "weight");
    la_tensor *b = weight(path, conv, "bias");
    la_tensor *mean = weight(path, norm, "running_mean");
    la_tensor *var = weight(path, norm, "running_var");
    la_tensor *scale = weight(path, norm, "weight");
    la_tensor *shift = weight(path, norm, "bias");
    if (!reason[0]) {
        become(x, la_call(NULL, "conv2d", *x, w, b,
                          la_any_named("padding", la_any_int(1))));
        become(x, la_call(NULL, "batch_norm", *x, mean, var, scale, shift));
        become(x, la_call(NULL, "relu", *x));
        become(x, la_call(NULL, "max_pool2d", *x, 2));
    }
    la_release(w);
    la_release(b);
    la_release(mean);
    la_release(var);
    la_release(scale);
    la_release(shift);
}

/* The probability of each digit for an image of 8 x 8 pixels in 0..1. */
static la_tensor *classify(const char *path, const float *pixels)
{
    const int64_t sizes[4] = {1, 1, 8, 8};
    la_tensor *x = checked(la_wrap((void *)pixels, "float32", 4, sizes, NULL,
                                   NULL, NULL));
    la_tensor *w = weight(path, "head", "weight");
    la_tensor *b = weight(path, "head", "bias");
    block(&x, path, 1);
    block(&x, path, 2);
    if (!reason[0]) {
        become(&x, la_call(NULL, "flatten", x, 2));
        become(&x, la_call(NULL, "linear", x, w, b));
        become(&x, la_call(NULL, "softmax", x, 2));
    }
    la_release(w);
    la_release(b);
    if (!reason[0]) return x;
    la_release(x);
    return NULL;
}

/* Image 'k' (from 0) of the file; its pixels are 0 to 16. */
static int read_image(const char *folder, long k, float *pixels)
{
    char path[512];
    snprintf(path, sizeof path, "%s/digits_images.npy", folder);
    la_tensor *file = checked(la_load(path, NULL));
    la_tensor *all = file ? checked(la_call(NULL, "to", file, "float32"))
        : NULL;
    int found = all && k >= 0 && k < la_sizes(all)[0];
    if (all && !found)
        snprintf(reason, sizeof reason, "there is no image %ld", k + 1);
    for (int i = 0; found && i < 64; i++)
        pixels[i] = ((const float *)la_data(all))[64 * k + i] / 16;
    la_release(file);
    la_release(all);
    return found;
}

static void draw(const float *pixels)
{
    for (int i = 0; i < 64; i++) {
        char ink = " .:-=+*#%@"[(int)(pixels[i] * 9 + 0.5f)];
        printf("%s%c%c%s", i % 8 ? "" : "    ", ink, ink,
               i % 8 == 7 ? "\n" : "");
    }
}

int main(int argc, char **argv)
{
    float pixels[64];
    if (argc < 3) {
        fprintf(stderr, "usage: %s weights.safetensors folder [image]\n",
                argv[0]);
        return 2;
    }
    long k = argc > 3 ? strtol(argv[3], NULL, 10) : 5;
    la_tensor *p = read_image(argv[2], k - 1, pixels)
        ? classify(argv[1], pixels) : NULL;
    if (!p) {
        fprintf(stderr, "%s\n", reason);
        return 1;
    }
    const float *share = la_data(p);
    int best = 0;
    for (int d = 1; d < 10; d++)
        if (share[d] > share[best]) best = d;
    printf("\na host program in C, without a script: image %ld\n\n", k);
    draw(pixels);
    printf("    is a %d (%.1f %%)\n", best, 100 * share[best]);
    la_release(p);
    return 0;
}
