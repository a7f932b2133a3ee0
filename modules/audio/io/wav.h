/*
** WAV: samples of sound in RIFF files, to and from tensors {frames, channels}.
** Read are integers of 8, 16, 24 and 32 bits, floats of 32 and 64, also with
** an extensible header, and RF64 (EBU Tech 3306), its form for more than 4 GB.
**
** Whatever a file says about itself is checked before it is used: hostile bytes
** give LA_EIO, and no header claims memory that its file cannot fill.
*/
#ifndef LA_IO_WAV_H
#define LA_IO_WAV_H

#include "io/stream.h"
#include "tensor/tensor.h"

typedef enum la_wav_format {
    LA_WAV_UINT8, LA_WAV_INT16, LA_WAV_INT24, LA_WAV_INT32, LA_WAV_FLOAT32,
    LA_WAV_FLOAT64, LA_WAV_FORMATS
} la_wav_format;

/* Facts of a format. A sample s is (s - zero) / full of full scale. Elements of
** tensors are as in the file, but those of INT24, which are in the lower bits
** of int32. */
typedef struct la_wav_kind {
    const char *name;           /* "int24" */
    la_dtype dtype;
    int bytes;                  /* of a sample in the file */
    double full, zero;
} la_wav_kind;
extern const la_wav_kind la_wav_kinds[LA_WAV_FORMATS];

typedef struct la_wav_info {
    la_wav_format format;
    int channels;               /* at least 1 */
    uint32_t rate;              /* frames per second, at least 1 */
    int64_t frames, begin;      /* where the samples are in the file */
} la_wav_info;

/* Information in the chunks in front of the samples. LA_EIO for what is no WAV
** file, or of a kind that is not read. */
la_status la_wav_info_read(const la_reader *, la_wav_info *out);

/* 'frames' frames from 'first' (from 0) on, which are in the file, as a new
** tensor that the caller owns. LA_EIO, LA_ENOMEM, LA_EINTR. */
la_status la_wav_read(const la_reader *, const la_wav_info *, int64_t first,
                      int64_t frames, la_tensor **out);

/* A whole file of a contiguous tensor {frames, channels} whose dtype is that of
** the format. LA_ESHAPE for more channels than a file can hold; what the writer
** gives. */
la_status la_wav_write(const la_tensor *, la_wav_format, uint32_t rate,
                       la_writer *out);

#endif
