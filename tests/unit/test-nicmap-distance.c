/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/nccl/nccl.h"
#include "analyse/shared/distance.h"
#include "collect/host/host.h"
#include "nicmap-host.h"

#define DATA "../shared/data/"

static void assert_path(const struct rd_host *host, int gpu, int nic, const char *path, const char *nccl,
			const char *nvshmem)
{
	const char *own = rd_path_name(rd_distance(host, gpu, nic, NULL));

	ASSERT_EACH(READS(own ? own : "unknown", path), READS(rd_path_name(rd_distance_nccl(host, gpu, nic)), nccl));
	assert_string_equal(rd_path_name(rd_distance_nvshmem(host, gpu, nic)), nvshmem);
}

/* Two sockets; on the first two host bridges; below one of them two root ports, one with a switch behind a switch. */
TEST(distances_on_a_host_with_switches)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int up = made_switch(&host, 0x20, "pci0000:20", 0), inner, gpu, near, deep, port, bridge, node, far;

	gpu = made_gpu(&host, "23:00.0", made_port_of(&host, up, 0), "pci0000:20", 0);
	near = made_nic(&host, "near", "24:00.0", made_port_of(&host, up, 1), "pci0000:20", 0, 400);
	inner = made_bridge(&host, "25:00.0", made_port_of(&host, up, 2), "pci0000:20", 0);
	deep = made_nic(&host, "deep", "27:00.0", made_port_of(&host, inner, 0), "pci0000:20", 0, 400);
	port = made_bridge(&host, "20:01.0", -1, "pci0000:20", 0);
	bridge = made_nic(&host, "bridge", "30:00.0", port, "pci0000:20", 0, 400);
	port = made_bridge(&host, "40:00.0", -1, "pci0000:40", 0);
	node = made_nic(&host, "node", "41:00.0", port, "pci0000:40", 0, 400);
	port = made_bridge(&host, "60:00.0", -1, "pci0000:60", 1);
	far = made_nic(&host, "far", "61:00.0", port, "pci0000:60", 1, 400);
	assert_path(&host, gpu, near, "PIX", "PIX", "PIX");
	assert_path(&host, gpu, deep, "PXB", "PXB", "PIX"); /* NVSHMEM looks at the accelerator's side only */
	assert_path(&host, gpu, bridge, "PHB", "PHB", "PHB");
	assert_path(&host, gpu, node, "NODE", "PHB", "NODE");
	assert_path(&host, gpu, far, "SYS", "SYS", "SYS");
}

/* Where the kernel names no node, two host bridges are not of one node; NVSHMEM takes -1 for a node like any other. */
TEST(node_minus_one_is_no_node)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int gpu, nic;

	gpu = made_gpu(&host, "21:00.0", made_bridge(&host, "20:00.0", -1, "pci0000:20", -1), "pci0000:20", -1);
	nic = made_nic(&host, "nic", "41:00.0", made_bridge(&host, "40:00.0", -1, "pci0000:40", -1), "pci0000:40", -1,
		       100);
	assert_path(&host, gpu, nic, "SYS", "PHB", "NODE");
}

TEST(a_guest_without_switches_is_unknown_and_says_why)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	const char *why = NULL;
	int gpu, nic, other;

	RD_SET(host.guest, true);
	gpu = made_gpu(&host, "0001:00:00.0", -1, "pci0001:00", 0);
	nic = made_nic(&host, "nic", "0101:00:00.0", -1, "pci0101:00", 0, 200);
	other = made_nic(&host, "other", "0102:00:00.0", -1, "pci0102:00", 1, 200);
	assert_int_equal(rd_distance(&host, gpu, nic, &why), RD_PATH_UNKNOWN);
	assert_non_null(strstr(why, "virtual machine"));
	/* That nodes differ is known all the same. */
	assert_int_equal(rd_distance(&host, gpu, other, &why), RD_PATH_SYS);
}

TEST(a_device_without_a_function_is_unknown)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	const char *why = NULL;
	int gpu = made_gpu(&host, "21:00.0", -1, "pci0000:20", 0), nic = made_nic(&host, "rxe0", NULL, -1, "", 0, 10);

	assert_int_equal(rd_distance(&host, gpu, nic, &why), RD_PATH_UNKNOWN);
	assert_non_null(why);
}

TEST(two_functions_of_a_card_are_near)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int port, a, b;

	port = made_bridge(&host, "60:00.0", -1, "pci0000:60", 0);
	a = made_nic(&host, "mlx5_4", "61:00.0", port, "pci0000:60", 0, 200);
	b = made_nic(&host, "mlx5_5", "61:00.1", port, "pci0000:60", 0, 200);
	assert_int_equal(rd_distance_pci(&host, host.ibdevs[a].pci, host.ibdevs[b].pci, NULL), RD_PATH_PIX);
}

TEST(places_of_vmds_long_domains_and_auxiliary_functions)
{
	struct rd_pci_place place;

	assert_true(rd_pci_place_parse(
		"../../../devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:01.0/10000:e1:00.0", &place));
	ASSERT_EACH(READS(place.self, "10000:e1:00.0"), READS(place.parent, "10000:e0:01.0"),
		    READS(place.root, "pci0000:00"));
	assert_true(
		rd_pci_place_parse("../../devices/LNXSYSTM:00/VMBUS:01/47505500-0001/pci0001:00/0001:00:00.0", &place));
	ASSERT_EACH(READS(place.self, "0001:00:00.0"), READS(place.parent, ""), READS(place.root, "pci0001:00"));
	assert_true(rd_pci_place_parse(
		"../../devices/pci0000:07/0000:07:01.0/0000:08:00.0/mlx5_core.sf.4/infiniband/mlx5_2", &place));
	ASSERT_EACH(READS(place.self, "0000:08:00.0"), IS(place.sf, 5));
	assert_true(rd_pci_place_parse("../../devices/pci0000:07/0000:07:01.0/mlx5_core.sf.x/net/eth0", &place));
	assert_int_equal(place.sf, 0);
	assert_true(rd_pci_place_parse("../../devices/pci0000:07/0000:07:01.0/mlx5_core.sf.4294967295/net/e", &place));
	assert_int_equal(place.sf, 0);
	assert_false(rd_pci_place_parse("../../devices/virtual/infiniband/rxe0", &place));
}

static bool load_xml(const char *name, struct rd_host *host)
{
	char path[256];
	FILE *file;
	char *text = calloc(1, 1 << 20);
	size_t n;

	snprintf(path, sizeof(path), DATA "nccl-topo-xml/%s", name);
	file = fopen(path, "r");
	if (!file) {
		free(text);
		return false;
	}
	n = fread(text, 1, (1 << 20) - 1, file);
	fclose(file);
	*host = (struct rd_host){ 0 };
	assert_int_equal(rd_collect_nccl_xml("topo.xml", text, n, host, NULL), 0);
	free(text);
	return true;
}

/* Accelerators in PCI order, NICs in that of the file. I: PIX, X: PXB, H: PHB, S: SYS. */
static const struct {
	const char *file, *rows[8];
} published[] = {
	{ "aws-p4d-24xl-topo.xml", { "IHSS", "IHSS", "HISS", "HISS", "SSIH", "SSIH", "SSHI", "SSHI" } },
	{ "azure-ncv4-topo.xml", { "H", "S", "S", "S" } },
	{ "azure-ndv4-topo.xml",
	  { "SSIISSSS", "SSIISSSS", "IISSSSSS", "IISSSSSS", "SSSSSSII", "SSSSSSII", "SSSSIISS", "SSSSIISS" } },
	{ "oci-topo-flattened.xml",
	  { "IISSSSSS", "IISSSSSS", "SSIISSSS", "SSIISSSS", "SSSSIISS", "SSSSIISS", "SSSSSSII", "SSSSSSII" } },
	{ "topo_3p_pcie.xml", { "H", "S", "S" } },
	{ "topo_4p1h.xml", { "X", "X", "X", "X" } },
	{ "topo_4p2h_2nic.xml", { "XH", "XH", "XH", "XH", "HX", "HX", "HX", "HX" } },
	{ "topo_8p1h.xml", { "XXSS", "XXSS", "XXSS", "XXSS", "SSXX", "SSXX", "SSXX", "SSXX" } },
	{ "topo_8p6l_1nic.xml", { "H", "H", "H", "H", "S", "S", "S", "S" } },
};

TEST(published_topology_files_by_the_rule_of_nccl)
{
	static const char letters[] = {
		[RD_PATH_PIX] = 'I', [RD_PATH_PXB] = 'X', [RD_PATH_PHB] = 'H', [RD_PATH_SYS] = 'S'
	};

	for (size_t f = 0; f < RD_ARRAY_SIZE(published); f++) {
		struct rd_host host;

		if (!load_xml(published[f].file, &host))
			SKIP("../shared/data is not here");
		for (size_t g = 0; g < host.n_gpus; g++) {
			const char *row = published[f].rows[g];

			assert_non_null(row);
			assert_int_equal(strlen(row), host.n_ibdevs);
			for (size_t d = 0; d < host.n_ibdevs; d++)
				if (letters[rd_distance_nccl(&host, (int)g, (int)d)] != row[d])
					fail_msg("%s: GPU%zu to NIC%zu", published[f].file, g, d);
		}
		assert_true(host.n_gpus == 8 || !published[f].rows[host.n_gpus]);
		rd_host_deinit(&host);
	}
}

/* The table has both functions of each card, the file one: NIC n of the file is NICs cards[n] and the one after. */
TEST(the_oci_host_is_as_its_owner_published_it)
{
	static const unsigned cards[] = { 5, 7, 1, 3, 14, 16, 9, 11 };
	_cleanup_(rd_host_deinit) struct rd_host host;
	char line[1024];
	size_t seen = 0;
	FILE *file = fopen(DATA "nvidia-smi-topo/oci-bm.gpu.a100-18nic.topo-m.txt", "r");

	if (!file || !load_xml("oci-topo-flattened.xml", &host)) {
		if (file)
			fclose(file);
		SKIP("../shared/data is not here");
	}
	while (fgets(line, sizeof(line), file)) {
		char *words[64];
		size_t n = 0, gpu;

		for (char *word = strtok(line, " \t\n"); word && n < 64; word = strtok(NULL, " \t\n"))
			words[n++] = word;
		if (n < 28 || strncmp(words[0], "GPU", 3) != 0 || strcmp(words[1], "GPU1") == 0 || words[0][3] < '0')
			continue;
		gpu = (size_t)(words[0][3] - '0');
		for (size_t d = 0; d < host.n_ibdevs; d++)
			for (unsigned fn = 0; fn < 2; fn++) {
				const char *path = rd_path_name(rd_distance(&host, (int)gpu, (int)d, NULL));

				/* It was flattened, which a file does not tell: NCCL leaves devices out as well. */
				if (path)
					assert_string_equal(path, words[1 + 8 + cards[d] + fn]);
				else
					assert_string_equal("PXB", words[1 + 8 + cards[d] + fn]);
			}
		seen++;
	}
	fclose(file);
	assert_int_equal(seen, 8);
}

/* Written and read again, each cell is as it was. */
static void assert_kept(struct rd_host *host)
{
	_cleanup_buf_ struct rd_buf xml = { 0 };
	_cleanup_(rd_host_deinit) struct rd_host again = { 0 };

	for (size_t d = 0; d < host->n_ibdevs; d++)
		assert_non_null(host->ibdevs[d].name);
	rd_nccl_xml_write(host, &xml);
	assert_int_equal(rd_collect_nccl_xml("topo.xml", xml.data, xml.len, &again, NULL), 0);
	assert_int_equal(again.n_gpus, host->n_gpus);
	for (size_t g = 0; g < host->n_gpus; g++)
		for (size_t d = 0; d < host->n_ibdevs; d++) {
			int gpu = -1, nic = rd_host_find_ibdev(&again, host->ibdevs[d].name);

			for (size_t i = 0; i < again.n_gpus; i++)
				if (strcmp(again.pcis[again.gpus[i].pci].addr, host->pcis[host->gpus[g].pci].addr) == 0)
					gpu = (int)i;
			assert_true(gpu >= 0 && nic >= 0);
			assert_int_equal(rd_distance(&again, gpu, nic, NULL), rd_distance(host, (int)g, (int)d, NULL));
			assert_int_equal(rd_distance_nccl(&again, gpu, nic), rd_distance_nccl(host, (int)g, (int)d));
		}
}

TEST(a_file_that_we_wrote_keeps_every_distance)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	int up, inner, port;

	for (int node = 0; node < 2; node++)
		rd_host_add_numa(&host)->id = node;
	/* A switch with room for disks between its ports, one below it, and a second host bridge. */
	up = made_switch(&host, 0x20, "pci0000:20", 0);
	made_gpu(&host, "23:00.0", made_port_of(&host, up, 0), "pci0000:20", 0);
	made_nic(&host, "far-bus", "3b:00.0", made_port_of(&host, up, 9), "pci0000:20", 0, 400);
	inner = made_bridge(&host, "25:00.0", made_port_of(&host, up, 2), "pci0000:20", 0);
	made_nic(&host, "deep", "27:00.0", made_port_of(&host, inner, 0), "pci0000:20", 0, 400);
	made_nic(&host, "bridge", "40:00.0", made_bridge(&host, "20:01.0", -1, "pci0000:20", 0), "pci0000:20", 0, 400);
	made_nic(&host, "node", "51:00.0", made_bridge(&host, "50:00.0", -1, "pci0000:50", 0), "pci0000:50", 0, 400);
	made_nic(&host, "sys", "61:00.0", made_bridge(&host, "60:00.0", -1, "pci0000:60", 1), "pci0000:60", 1, 400);
	/* Two on one bus; one that hangs a bridge lower than the other, so that no node of NCCL's is above both. */
	port = made_bridge(&host, "70:00.0", -1, "pci0000:70", 1);
	made_gpu(&host, "71:00.0", port, "pci0000:70", 1);
	made_nic(&host, "beside", "71:01.0", port, "pci0000:70", 1, 400);
	inner = made_bridge(&host, "71:02.0", port, "pci0000:70", 1);
	made_nic(&host, "below", "72:00.0", inner, "pci0000:70", 1, 400);
	made_nic(&host, "lower", "73:00.0", made_bridge(&host, "72:01.0", inner, "pci0000:70", 1), "pci0000:70", 1, 400);
	assert_kept(&host);
}

TEST(a_guest_stays_one_in_a_file_that_we_wrote)
{
	struct rd_host host = { 0 };

	for (int node = 0; node < 2; node++)
		rd_host_add_numa(&host)->id = node;
	RD_SET(host.guest, true);
	made_gpu(&host, "0001:00:00.0", -1, "pci0001:00", 0);
	made_nic(&host, "nic", "0101:00:00.0", -1, "pci0101:00", 0, 200);
	made_nic(&host, "other", "0102:00:00.0", -1, "pci0102:00", 1, 200);
	assert_kept(&host);
	rd_host_deinit(&host);
	/* And nodes that the kernel does not name. */
	host = (struct rd_host){ 0 };
	made_gpu(&host, "21:00.0", made_bridge(&host, "20:00.0", -1, "pci0000:20", -1), "pci0000:20", -1);
	made_nic(&host, "nic", "41:00.0", made_bridge(&host, "40:00.0", -1, "pci0000:40", -1), "pci0000:40", -1, 100);
	made_nic(&host, "same", "22:00.0", made_bridge(&host, "20:01.0", -1, "pci0000:20", -1), "pci0000:20", -1, 100);
	assert_kept(&host);
	rd_host_deinit(&host);
}

/* NCCL names no disks: what bus numbers leave open is no bridge. */
TEST(gaps_in_the_bus_numbers_of_a_file_are_unknown)
{
	static const char head[] =
		"<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:11:00.0\" class=\"0x060400\">"
		"<pci busid=\"0000:13:00.0\" class=\"0x030200\"/>",
			  tail[] = "</pci></cpu></system>";
	struct rd_host host;
	const char *why;
	char text[1024];

	for (unsigned bus = 0x14; bus < 0x20; bus += 4) {
		host = (struct rd_host){ 0 };
		why = NULL;
		snprintf(text, sizeof(text), "%s<pci busid=\"0000:%02x:00.0\" class=\"0x020700\"/>%s", head, bus, tail);
		assert_int_equal(rd_collect_nccl_xml("topo.xml", text, strlen(text), &host, NULL), 0);
		assert_int_equal(rd_distance(&host, 0, 0, &why), bus == 0x14 ? RD_PATH_PIX : RD_PATH_UNKNOWN);
		ASSERT_EACH(IS(why != NULL, bus != 0x14), IS(rd_distance_nccl(&host, 0, 0), RD_PATH_PIX));
		rd_host_deinit(&host);
	}
}
