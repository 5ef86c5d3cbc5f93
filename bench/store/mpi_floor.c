// SPDX-License-Identifier: Apache-2.0
// What MPI itself does, without a store: messages of 512 KiB there and back, and its own sum of 16
// MiB. Prints the median as JSON.   mpirun -n 2 mpi_floor there_and_back | sum
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 512 << 10, PIECES = 200, SUM_NUMBERS = 4 << 20, REPEATS = 9 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// ns of one message.
static double there_and_back(int rank, char *bytes)
{
    double begin = MPI_Wtime();
    for (int i = 0; i < PIECES; i++) {
        if (rank == 0) {
            MPI_Send(bytes, PIECE_BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        }
        MPI_Recv(bytes, PIECE_BYTES, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) {
            MPI_Send(bytes, PIECE_BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) * 1e9 / (2 * PIECES);
}

static double sum(float *values, float *out)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    MPI_Allreduce(values, out, SUM_NUMBERS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) * 1e9;
}

int main(int count, char **arguments)
{
    int rank, size;
    double taken[REPEATS];
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    float *values = calloc(SUM_NUMBERS, sizeof *values), *out = calloc(SUM_NUMBERS, sizeof *out);
    if (size != 2 || count != 2 || values == NULL || out == NULL) {
        return 2;
    }
    for (int i = 0; i < SUM_NUMBERS; i++) {
        values[i] = (float)(rank + 1);
        out[i] = 0;
    }
    for (int i = 0; i < REPEATS; i++) {
        taken[i] = strcmp(arguments[1], "sum") == 0 ? sum(values, out)
                                                    : there_and_back(rank, (char *)values);
    }
    qsort(taken, REPEATS, sizeof *taken, by_value);
    if (rank == 0) {
        printf("{\"ns\": %.1f}\n", taken[REPEATS / 2]);
    }
    MPI_Finalize();
    return 0;
}
