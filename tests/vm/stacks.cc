/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ioctl that a device refuses with EINVAL, below a recursion and, in C++, a virtual function called by std::sort.
 *
 * c++ -O2 stacks.cc; with -static; with -m32 -ffreestanding -nostdlib -static -fno-pic -no-pie: without any library.
 */
#ifdef __i386__
static long call(long nr, long a, long b, long c)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}
#define OPEN(path) call(5, (long)(path), 2, 0)
#define IOCTL(fd, nr, arg) call(54, fd, nr, (long)(arg))
__asm__(".globl _start\n_start:\n.cfi_startproc\n.cfi_undefined eip\ncall main\nmovl %eax,%ebx\nmovl $1,%eax\nint $0x80\n"
	".cfi_endproc\n");
#else
#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <vector>
#define OPEN(path) open(path, O_RDWR)
#define IOCTL(fd, nr, arg) ioctl((int)(fd), nr, arg)
#endif

/* A variable array makes the compiler find the frame by a register of its choice. */
__attribute__((noinline)) static long fail_below(long fd, int depth)
{
	struct {
		unsigned short length, object, method, attrs;
		unsigned long long reserved, driver;
	} head = { 24, 0, 0, 0, 0, 0 };
	volatile char room[depth * 40 + 1];

	room[depth] = 1;
	return depth ? fail_below(fd, depth - 1) + room[depth] : IOCTL(fd, 0xc0181b01, &head);
}

#ifndef __i386__
struct order {
	long fd;
	virtual bool before(int a, int b) const = 0;
};

struct failing_order : order {
	bool before(int a, int b) const override
	{
		return fail_below(fd, a + b) ? a < b : a > b;
	}
};
#endif

int main()
{
	long fd = OPEN("/dev/infiniband/uverbs0");
#ifdef __i386__
	return fail_below(fd, 3) ? 1 : 0;
#else
	std::vector<int> v = { 3, 1 };
	failing_order failing;
	order *o = &failing;

	__asm__("" : "+r"(o));
	o->fd = fd;
	std::sort(v.begin(), v.end(), [o](int a, int b) { return o->before(a, b); });
	return v[0] == 1;
#endif
}
