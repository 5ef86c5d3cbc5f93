// SPDX-License-Identifier: Apache-2.0
// A known number of regions, loops, tasks, singles and criticals, on two threads.
#include <omp.h>
#include <stdio.h>

enum { REGIONS = 25, TASKS = 4 };

int main(void)
{
    double sum = 0;
    omp_set_num_threads(2);
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel
        {
#pragma omp for schedule(dynamic, 8) reduction(+ : sum)
            for (int i = 0; i < 1000; i++) {
                sum += i;
            }
#pragma omp critical
            sum += 1;
#pragma omp single
            {
                for (int task = 0; task < TASKS; task++) {
#pragma omp task
                    {
                        volatile double work = 0;
                        for (int k = 0; k < 1000; k++) {
                            work = work + k;
                        }
                    }
                }
#pragma omp taskwait
            }
        }
    }
    printf("%.0f\n", sum);
    return 0;
}
