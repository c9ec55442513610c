/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to do about a fault: commands to paste, and advice. */
#include "unit.h"

#include "base/fix.h"

/* Takes ownership of `text`. NULL: there is none. */
static void is(char *text, const char *wanted)
{
	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
	free(text);
}

TEST(commands_are_told_from_advice)
{
	static const char both[] = "# first, look\nip link set eth0 up\nip link show eth0\n# then, wait";

	is(rd_fix_commands(both), "ip link set eth0 up\nip link show eth0");
	is(rd_fix_advice(both), "first, look; then, wait");
	is(rd_fix_line(both), "first, look; ip link set eth0 up; ip link show eth0; then, wait");
	is(rd_fix_commands("# reseat the card"), NULL);
	is(rd_fix_advice("lspci"), NULL);
	is(rd_fix_commands(NULL), NULL);
	is(rd_fix_advice(NULL), NULL);
	is(rd_fix_line(NULL), NULL);
}

TEST(words_stand_for_names_of_this_host)
{
	const struct rd_fix_word words[] = { { "ADDRESS", NULL }, { "IF", "eth2" } };
	static const char *const hostile[] = { "$(reboot)", "a\nreboot", "-x", "a;reboot", "" };

	is(rd_fix_fill("ip link set IF up\n# no job may use IF", words, 2),
	   "ip link set eth2 up\n# no job may use eth2");
	is(rd_fix_fill("echo 1 >/sys/class/net/IF/mtu", words, 2), "echo 1 >/sys/class/net/eth2/mtu");
	/* Parts of words are no names. */
	is(rd_fix_fill("export NCCL_IF=1 IFX=2 XIF=3 IF_=4 -IF", words, 2), "export NCCL_IF=1 IFX=2 XIF=3 IF_=4 -eth2");
	/* What cannot be pasted is advice. */
	is(rd_fix_fill("lspci -s ADDRESS\nethtool IF", words, 2), "# lspci -s ADDRESS\nethtool eth2");
	is(rd_fix_fill("# see ADDRESS", words, 2), "# see ADDRESS");
	/* Nor does a name of a host run, begin a line, or become an option. */
	for (size_t i = 0; i < RD_ARRAY_SIZE(hostile); i++)
		is(rd_fix_fill("ethtool IF", &(struct rd_fix_word){ "IF", hostile[i] }, 1), "# ethtool IF");
}

TEST(the_commands_for_several_are_pasted_at_once)
{
	const char *const same[] = { "ip -br address\n# a", "ip -br address\n# b" };
	const char *const names[] = { "ip link set eth0 up\nethtool eth0", "ip link set eth1 up\nethtool eth1",
				      "# no command", "ip link set eth12 up\nethtool eth12" };
	const char *const addresses[] = { "setpci -s 0000:1b:00.0 CAP_EXP+8.w=10:10",
					  "setpci -s 0000:1c:00.0 CAP_EXP+8.w=10:10" };
	const char *const two[] = { "dcb pfc set dev eth0 prio-pfc 3:on", "dcb pfc set dev eth1 prio-pfc 4:on" };
	const char *const quoted[] = { "echo '$i' eth0", "echo '$i' eth1" };
	const char *const prose[] = { "# reseat the card", NULL };

	is(rd_fix_join(same, 2), "ip -br address");
	is(rd_fix_join(names, 4), "for i in eth0 eth1 eth12; do ip link set $i up; ethtool $i; done");
	is(rd_fix_join(addresses, 2), "for i in 0000:1b:00.0 0000:1c:00.0; do setpci -s $i CAP_EXP+8.w=10:10; done");
	is(rd_fix_join(two, 2), "dcb pfc set dev eth0 prio-pfc 3:on\ndcb pfc set dev eth1 prio-pfc 4:on");
	is(rd_fix_join(quoted, 2), "echo '$i' eth0\necho '$i' eth1");
	is(rd_fix_join(names, 1), "ip link set eth0 up\nethtool eth0");
	is(rd_fix_join(prose, 2), NULL);
	is(rd_fix_join(prose, 0), NULL);
}
