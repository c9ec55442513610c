/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the verifier of the kernel said of a program that it refused; the logs are of 6.12 and 6.1, shortened. */
#include "unit.h"

#include "trace/attach/attach.h"

static void check(const char *log, const char *reason)
{
	struct rd_refusal refusal = { .log = (char *)log };

	rd_refusal_explain(&refusal);
	assert_string_equal(refusal.reason, reason);
}

TEST(instruction_and_reason)
{
	check("func#0 @0\n580: (bf) r2 = r1                     ; R1=scalar(id=7) R2_w=scalar(id=7)\n"
	      "; if (cfg.read_kernel && len) @ request.bpf.h:87\n"
	      "581: (85) call bpf_probe_read_user#112\n"
	      "R2 unbounded memory access, use 'var &= const' or 'if (var < const)'\n"
	      "processed 2100 insns (limit 1000000) max_states_per_insn 5\n",
	      "instruction 581, R2 unbounded memory access, use 'var &= const' or 'if (var < const)'");
	check("2873: (56) if w2 != 0x0 goto pc+2 2876: R0=0 R1=2\n; unsigned char shift = 0;\n2876: (b4) w1 = 0\n"
	      "from 2870 to 2878: R1=3\ninfinite loop detected at insn 2879\ncur state: R0=0 R1_w=0\nold state: R0=0\n"
	      "processed 16508 insns\n",
	      "instruction 2876, infinite loop detected at insn 2879");
	/* A helper of 6.1 that a 5.10 lacks. */
	check("12: (85) call unknown#211\ninvalid func unknown#211\nprocessed 12 insns\n",
	      "instruction 12, invalid func unknown#211");
}

TEST(a_log_without_reason)
{
	check("", "");
	check("processed 0 insns\n", "");
	check("7: (95) exit\n", "");
	check("BPF program is too large", "instruction 0, BPF program is too large");
	check("99999999999999999999999999: (85)\n;\n\n \n=\n", "");
}
