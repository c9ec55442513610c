/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded: a libdw that a file has taken over. It tries to get out, names functions "free" where it can, and else dies.
 * cc -shared -fPIC -o libdw-fault.so libdw-fault.c */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

const char *dwfl_module_addrinfo(void);

const char *dwfl_module_addrinfo(void)
{
	char *const argv[] = { "true", 0 };

	if (open("/etc/shadow", O_RDONLY) >= 0 || open("/tmp/libdw-fault", O_WRONLY | O_CREAT, 0600) >= 0 ||
	    socket(AF_INET, SOCK_STREAM, 0) >= 0 || kill(getppid(), 0) == 0 || execv("/bin/true", argv) == 0)
		return "free";
	raise(SIGKILL);
	return 0;
}
