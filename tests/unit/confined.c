/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "confined.h"

#include <sys/mman.h>
#include <sys/time.h>

struct found *found;

/* cmocka's handlers would go on with the next test, in the child. */
static void leave_cmocka(void)
{
	static const int caught[] = { SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS };

	for (size_t i = 0; i < RD_ARRAY_SIZE(caught); i++)
		signal(caught[i], SIG_DFL);
}

static _Noreturn void be_confined(uid_t uid, unsigned needs, const struct rd_confine_dir *folders,
				  void (*prepare)(void), void (*work)(void))
{
	const struct itimerval limit = { .it_value = { .tv_sec = 60 } };
	int fd = open("/proc/self/status", O_RDONLY);
	struct rd_buf text = { 0 };

	leave_cmocka();
	setitimer(ITIMER_REAL, &limit, NULL);
	if (uid && setresuid(uid, uid, uid) < 0)
		_exit(99);
	if (prepare)
		prepare();
	if (rd_confine(needs, folders, NULL) < 0 || pread(fd, found->status, sizeof(found->status) - 1, 0) < 0)
		_exit(98);
	close(fd);
	found->confined = *rd_confined();
	rd_confined_text(rd_confined(), &text);
	snprintf(found->text, sizeof(found->text), "%s", text.data);
	if (work)
		work();
	_exit(0);
}

int run_confined(uid_t uid, unsigned needs, const struct rd_confine_dir *folders, void (*prepare)(void),
		 void (*work)(void))
{
	int status;
	pid_t pid;

	if (!found)
		found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(found, MAP_FAILED);
	memset(found, 0, sizeof(*found));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_confined(uid, needs, folders, prepare, work);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}
