/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An MPI program of two ranks that exchange messages until they are killed. Rank 0 says "ready PID" when some were. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char sent[1 << 20], received[1 << 20];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (unsigned i = 0;; i++) {
		MPI_Sendrecv(sent, sizeof(sent), MPI_BYTE, rank ^ 1, 0, received, sizeof(received), MPI_BYTE, rank ^ 1,
			     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (i == 8 && rank == 0) {
			printf("ready %d\n", getpid());
			fflush(stdout);
		}
		usleep(10000);
	}
}
