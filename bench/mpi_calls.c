/*
** Collective calls of MPI on plain buffers, as bench/mpi_calls.lua makes them
** through tensors: a line "name bytes microseconds" each, the least mean of
** several groups of calls, from rank 0.
**
**     mpicc -O2 bench/mpi_calls.c -o build/mpi_calls
**     mpirun -n 2 build/mpi_calls
*/
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 9 };

static float *from, *to;
static int size;

static void all_reduce(int n)
{
    MPI_Allreduce(MPI_IN_PLACE, from, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(int n)
{
    MPI_Bcast(from, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void all_gather(int n)
{
    MPI_Allgather(from, n, MPI_FLOAT, to, n, MPI_FLOAT, MPI_COMM_WORLD);
}

static void all_to_all(int n)
{
    MPI_Alltoall(from, n / size, MPI_FLOAT, to, n / size, MPI_FLOAT,
                 MPI_COMM_WORLD);
}

static double group(void (*call)(int), int n, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int k = 0; k < calls; k++) call(n);
    return (MPI_Wtime() - start) / calls * 1e6;
}

static void measure(const char *name, void (*call)(int), int bytes, int rank)
{
    int n = bytes / 4, calls = bytes < 65536 ? 2000 : (256 << 20) / bytes / 8;
    double least = 1e30;
    if (calls > 2000) calls = 2000;
    if (calls < 4) calls = 4;
    for (int k = 0; k < GROUPS; k++) {
        double t = group(call, n, calls);
        if (t < least) least = t;
    }
    if (rank == 0) printf("%s %d %.3f\n", name, bytes, least);
}

int main(int argc, char **argv)
{
    int rank;
    size_t most = (size_t)64 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    from = malloc(most);
    to = malloc(most * (size_t)size);
    if (!from || !to) return 1;
    memset(from, 0, most);
    memset(to, 0, most * (size_t)size);
    for (int bytes = 8; bytes <= 64 << 20; bytes *= 8) {
        measure("all_reduce", all_reduce, bytes, rank);
        measure("bcast", bcast, bytes, rank);
        measure("all_gather", all_gather, bytes, rank);
        if (bytes / 4 >= size) measure("all_to_all", all_to_all, bytes, rank);
    }
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
