/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topology files on which NCCL's own code (src/graph, release 2.30.7) was run: what it made of them. */
#include "unit.h"

#include "collect/host/host.h"
#include "nccl-host.h"

#define LINK " link_speed=\"16.0 GT/s PCIe\" link_width=\"16\""
#define PCI(busid, class) "<pci busid=\"0000:" busid ":00." class LINK ">"
#define SWITCH(busid) PCI(busid, "0\" class=\"0x060400\"")
#define PEX(busid)                                                              \
	PCI(busid, "0\" class=\"0x060400\" vendor=\"0x1000\" device=\"0xc010\"" \
		   " subsystem_vendor=\"0x1000\" subsystem_device=\"0xa064\"")
#define NVLINK(busid) "<nvlink target=\"0000:" busid ":00.0\" count=\"2\" tclass=\"0x030200\"/>"
#define GPU(busid, dev, nvlinks) \
	PCI(busid, "0\" class=\"0x030200\"") "<gpu dev=\"" dev "\" sm=\"80\" gdr=\"1\">" nvlinks "</gpu></pci>"
#define NIC(busid, fn, name, mbps)             \
	PCI(busid, fn "\" class=\"0x020700\"") \
	"<nic><net name=\"" name "\" speed=\"" mbps "\" port=\"1\" gdr=\"1\"/></nic></pci>"
#define CPU(id, inside) \
	"<cpu numaid=\"" id "\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"1\">" inside "</cpu>"
#define SYSTEM(inside) "<system version=\"1\">" inside "</system>"
#define VIRTUAL(name) "<net name=\"" name "\" speed=\"25000\" port=\"1\" gdr=\"0\"/>"

static void start(struct made *m, const char *text)
{
	assert_int_equal(rd_collect_nccl_xml("file", text, strlen(text), &m->host, NULL), 0);
}

/* The second takes part in the first, so the third and fourth stay what they are. */
NCCL_TEST(three_pex_switches_in_a_row_are_two)
{
	start(m, SYSTEM(CPU("0", PEX("01") PEX("03") PEX("05") GPU("06", "0", "") "</pci>" PEX("08")
					 NIC("09", "0", "mlx5_0", "200000") "</pci></pci></pci>")));
	assert_string_equal(nccl_path(m, 0, 0), "PXB");
}

/* Ports that are functions of their own: the merged one is the last below its switch, and the first is another's. */
NCCL_TEST(a_merged_nic_comes_last)
{
	start(m, SYSTEM(CPU("0", SWITCH("01") NIC("02", "0", "mlx5_0", "100000") NIC("02", "1", "mlx5_1", "100000")
					 NIC("03", "0", "mlx5_2", "200000") GPU("04", "0", "")
						 GPU("05", "1", "") "</pci>" NIC("08", "0", "mlx5_3", "200000"))));
	assert_nets(m, "mlx5_2 mlx5_0+mlx5_1 mlx5_3");
	ASSERT_EACH(READS(nccl_first(m, 0), "mlx5_2"), READS(nccl_first(m, 1), "mlx5_0"));
}

/* The first process knows the switches that have NICs, and that of its own accelerator: the one with GPU1 comes last. */
NCCL_TEST(accelerators_come_in_the_order_of_the_tree)
{
	start(m, SYSTEM(CPU("0", GPU("04", "0", NVLINK("13") NVLINK("23"))) CPU(
			 "1", SWITCH("10") SWITCH("11") GPU("13", "1", NVLINK("04")) "</pci>" SWITCH("21")
				      GPU("23", "2", NVLINK("04")) NIC("24", "0", "mlx5_1", "100000") "</pci>" NIC(
					      "30", "0", "mlx5_0", "200000") "</pci>")));
	ASSERT_EACH(READS(nccl_path(m, 0, 1), "PXN"), IS(rd_nicmap_pair(&m->map, 0, 1)->via, 2));
}

NCCL_TEST(nics_without_a_function_are_on_the_first_cpu)
{
	start(m, SYSTEM(CPU("0", GPU("04", "0", "") "<nic>" VIRTUAL("rxe0") "</nic>")
				CPU("1", GPU("13", "1", "") "<nic>" VIRTUAL("rxe1") "</nic>")));
	assert_nets(m, "rxe0 rxe1");
	ASSERT_EACH(READS(nccl_path(m, 0, 1), "PHB"), READS(nccl_path(m, 1, 1), "SYS"));
}
