// SPDX-License-Identifier: GPL-2.0-or-later
#include "traced.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t traced_start(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

void traced_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void traced_free_frames(struct rd_frame *frames, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(frames[i].function);
		free(frames[i].object);
		free(frames[i].file);
	}
}

struct rd_ustack *traced_ustack(void)
{
	struct rd_ustack *us = NULL;
	struct rd_err err = { 0 };

	if (rd_ustack_create(&us, &err) < 0)
		SKIP("no libdw");
	return us;
}
