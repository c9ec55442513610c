/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To be preloaded: a fault in what unpacks archives, and in what reads XML, which gives the process into the hands of who wrote
 * such a file. Says on standard error what it could do: "open: Operation not permitted". FAULT_FOLDER: a folder that is not the command's to write to;
 * FAULT_PID: a process that is not its to signal. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void tell(const char *what, long r)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, r < 0 ? strerror(errno) : "done");
}

static void try_to_connect(int family, const struct sockaddr *to, socklen_t size)
{
	int fd = socket(family, SOCK_STREAM, 0);

	tell(family == AF_UNIX ? "connect to a socket in /run" : "connect", fd < 0 ? -1 : connect(fd, to, size));
}

static void try_to_execute(void)
{
	char *const argv[] = { (char *)"true", NULL };

	execv("/bin/true", argv);
	tell("execute", -1);
}

static void try_all(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(9),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct sockaddr_un journal = { .sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/stdout" };
	char path[4096];

	snprintf(path, sizeof(path), "%s/planted", getenv("FAULT_FOLDER"));
	tell("open /etc/shadow", open("/etc/shadow", O_RDONLY));
	tell("open a file of the user", open(getenv("FAULT_FILE"), O_RDONLY));
	tell("list a folder", open("/", O_RDONLY | O_DIRECTORY));
	tell("write elsewhere", open(path, O_WRONLY | O_CREAT, 0600));
	tell("remove", unlink(getenv("FAULT_FILE")));
	tell("rename", rename(getenv("FAULT_FILE"), path));
	tell("change a mode", chmod(getenv("FAULT_FILE"), 0777));
	try_to_connect(AF_INET, (const struct sockaddr *)&to, sizeof(to));
	try_to_connect(AF_UNIX, (const struct sockaddr *)&journal, sizeof(journal));
	tell("make a datagram socket", socket(AF_INET, SOCK_DGRAM, 0));
	tell("make a netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
	tell("signal", kill(atoi(getenv("FAULT_PID")), 0));
	tell("trace", ptrace(PTRACE_ATTACH, atoi(getenv("FAULT_PID")), NULL, NULL));
	tell("type into the terminal", ioctl(STDIN_FILENO, TIOCSTI, "x"));
	tell("become root", setuid(0));
	try_to_execute();
}

int archive_read_next_header(void *archive, void **entry)
{
	try_all();
	return 1; /* the end of the archive */
}

int XML_Parse(void *parser, const char *text, int size, int last)
{
	try_all();
	return 0; /* an error */
}
