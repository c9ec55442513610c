/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spawn COMMAND [ARGUMENT]...: runs it once without input and output; prints the seconds from start to exit and the peak of its
 * resident memory in KiB. Linux counts what a process was before it called exec as its memory, too: a fork of an interpreter looks like
 * several MB, so this program is small, and its child shares its memory until then.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double began;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	began = now();
	if (posix_spawnp(&pid, argv[1], &actions, NULL, argv + 1, environ) || wait4(pid, &status, 0, &usage) < 0)
		return 1;
	printf("%.6f %ld\n", now() - began, usage.ru_maxrss);
	return status != 0;
}
