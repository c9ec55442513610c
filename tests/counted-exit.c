/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linked with -Wl,--wrap=_exit: what ran is written by processes that end by _exit, too. */
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
