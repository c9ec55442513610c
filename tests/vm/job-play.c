/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for a job of which `rdmadiag job` judges what carries its traffic: maps a file under the name of a library, opens device
 * files, sends over TCP, then waits to be killed. It says "ready" when all is done.
 *   job-play [--map FILE] [--open FILE] [--files N] [--send ADDRESS PORT MEBIBYTES] [--uid N]   in this order of effect
 *   job-play --sink PORT                                     takes what others send
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in address_of(const char *ip, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port)) };

	inet_pton(AF_INET, ip, &to.sin_addr);
	return to;
}

static void sink(const char *port)
{
	struct sockaddr_in own = address_of("0.0.0.0", port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0 || listen(fd, 16) < 0)
		fail("sink");
	for (;;) {
		static char bytes[1 << 18];
		int from = accept(fd, NULL, NULL);

		if (fork() == 0)
			for (;;)
				if (read(from, bytes, sizeof(bytes)) <= 0)
					_exit(0);
		close(from);
	}
}

static void send_to(const char *ip, const char *port, const char *mebibytes)
{
	static char bytes[1 << 20];
	struct sockaddr_in to = address_of(ip, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		fail("connect");
	for (int i = atoi(mebibytes); i > 0; i--)
		for (size_t at = 0; at < sizeof(bytes);) {
			ssize_t n = write(fd, bytes + at, sizeof(bytes) - at);

			if (n <= 0)
				fail("send");
			at += (size_t)n;
		}
}

static void map(const char *file)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		fail(file);
	close(fd);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *option = argv[i];

		if (strcmp(option, "--sink") == 0)
			sink(argv[++i]);
		else if (strcmp(option, "--map") == 0)
			map(argv[++i]);
		else if (strcmp(option, "--open") == 0 && open(argv[++i], O_RDWR) < 0)
			fail(argv[i]);
		else if (strcmp(option, "--files") == 0)
			for (int n = atoi(argv[++i]); n > 0; n--)
				open("/dev/null", O_RDONLY);
		else if (strcmp(option, "--uid") == 0 && setuid((uid_t)atoi(argv[++i])) < 0)
			fail("setuid");
		else if (strcmp(option, "--send") == 0 && i + 3 < argc) {
			send_to(argv[i + 1], argv[i + 2], argv[i + 3]);
			i += 3;
		}
	}
	puts("ready");
	fflush(stdout);
	pause();
}
