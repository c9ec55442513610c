/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "program.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>

#define LARGE_ALLOCATION 65536 /* bytes */

int main(int argc, char **argv)
{
	/* The next file opened would get the number of a closed standard descriptor, and our output would go there. Opened with the
	 * opposite access mode, reads and writes fail as they should. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	rd_end_watch();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	rd_charset_init();
	/* Arrays of queue pairs and ports are then extended in place and returned when freed, however many were freed before. */
	mallopt(M_MMAP_THRESHOLD, LARGE_ALLOCATION);
#ifdef RD_STATIC
	libbpf_set_print(NULL); /* otherwise when it is loaded */
#endif
	return rd_end_in_order(rd_program_run(argc, argv));
}
