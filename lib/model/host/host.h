/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a host that concern RDMA: PCI functions and the bridges above them, RDMA devices with their ports and GIDs,
 * network interfaces, accelerators, NUMA nodes. Plain data: one owner, arrays, indices between objects (-1: none). Unknown
 * text is NULL.
 */
#ifndef RD_MODEL_HOST_H
#define RD_MODEL_HOST_H

#include "base/err.h"

#define RD_PCI_ADDR 24 /* bytes; fits "7fffffff:ff:1f.7" */

/* The PCI Express link from this function up. */
struct rd_pcie_link {
	RD_FIELD(unsigned) mtps; /* megatransfers per second and lane: 16000 is PCI Express 4.0 */
	RD_FIELD(unsigned) width;
};

/* Device/port type of a PCI Express function (capability register, bits 7:4). */
enum rd_pcie_kind {
	RD_PCIE_OTHER = 0,
	RD_PCIE_ROOT_PORT,
	RD_PCIE_UPSTREAM,
	RD_PCIE_DOWNSTREAM,
	RD_PCIE_ENDPOINT,
};

/* PCI base classes, as in bits 23:16 of the class code. */
enum {
	RD_PCI_STORAGE = 0x01,
	RD_PCI_NETWORK = 0x02,
	RD_PCI_DISPLAY = 0x03,
	RD_PCI_BRIDGE = 0x06,
	RD_PCI_ACCELERATOR = 0x12,
};
#define RD_PCI_CLASS_NVSWITCH 0x0680	/* "other bridge", of NVIDIA */
#define RD_PCI_CLASS_DATA_DIRECT 0x0801 /* of Mellanox */
#define RD_PCI_CLASS_BRIDGE 0x0604	/* PCI-to-PCI bridge, bits 23:8 */
#define RD_PCI_CLASS_MEMORY 0x0580	/* "other memory controller" */
#define RD_PCI_CLASS_ENCRYPTION 0x1080

/* A base address register that is mapped. */
struct rd_bar {
	unsigned index;	      /* 0..5 */
	uint64_t start, size; /* bytes */
};

/* Registers in configuration space that rules check, as in the PCI Express Base Specification. Absent: no such capability, or
 * not read; denied: beyond the 64 bytes that are readable without privilege. */
struct rd_pci_config {
	RD_FIELD(uint32_t) dev_cap, dev_cap2, slot_cap;
	RD_FIELD(uint16_t) dev_ctl, dev_ctl2;
	RD_FIELD(uint16_t) ats_ctl;
};

/* Errors since boot, counted by Advanced Error Reporting; without requests that a function does not support. */
struct rd_pci_aer {
	RD_FIELD(uint64_t) correctable, nonfatal, fatal;
};

struct rd_pci {
	char addr[RD_PCI_ADDR]; /* "0000:1b:00.0", domains above 16 bits longer */
	uint32_t domain;
	uint8_t bus, dev, fn;
	int parent;		   /* the bridge above; -1: on a root bus, or not known */
	char skipped[RD_PCI_ADDR]; /* in a file that --nccl-xml wrote: the bridge between this one and its parent; "" */
	char *root;		   /* host bridge above it all ("pci0000:40"); a VMD's domain has one of its own */
	RD_FIELD(uint32_t) class;  /* 24 bits */
	RD_FIELD(uint16_t) vendor, device, subvendor, subdevice;
	RD_FIELD(int) numa; /* value of the kernel; -1 is "none", and known */
	struct rd_pcie_link now, max;
	RD_FIELD(int) kind;	    /* enum rd_pcie_kind */
	RD_FIELD(uint16_t) acs_ctl; /* Access Control Services, control register; absent: has none, or not readable */
	bool acs_missing;	    /* all of configuration space was read, and has no ACS capability */
	char *driver;
	char *slot;	    /* name of the physical slot */
	int pf;		    /* physical function of a virtual one; -1: none */
	bool config_read;   /* read attempted; as far as permitted */
	bool extras_read;   /* reading of errors, power, IOMMU and base addresses attempted */
	bool config_denied; /* only the first 64 bytes are readable */
	bool no_answer;	    /* reads return all ones: it is no longer on the bus */
	struct rd_pci_config config;
	struct rd_pci_aer aer;
	struct rd_bar bars[6];
	unsigned n_bars;
	char *power_state; /* "D0", "D3cold" */
	RD_FIELD(int) iommu_group;
	char *iommu_type;  /* "identity", "DMA", "DMA-FQ" */
	bool iommu_shared; /* its group contains functions of other cards */
	bool detailed;	   /* more than class and location has been read */
};

struct rd_numa {
	int id;
	char *cpulist; /* "0-15,64-79"; "": memory alone */
	/* The socket of its first CPU, numbered by firmware. NPS (AMD) and SNC (Intel) divide a socket into several
	 * nodes. Absent: not reported, or a node with memory only. */
	RD_FIELD(int) package;
};

enum rd_gid_type { RD_GID_UNKNOWN = 0, RD_GID_IB, RD_GID_ROCE_V1, RD_GID_ROCE_V2 };

struct rd_gid {
	unsigned index;
	uint8_t raw[16];
	enum rd_gid_type type;
	char *netdev; /* its interface; NULL: not in this network namespace */
};

struct rd_port {
	int ibdev;
	unsigned num;		    /* 0: unknown (a topology file without port) */
	char *link_layer;	    /* "InfiniBand", "Ethernet" */
	char *state;		    /* "ACTIVE", "DOWN" … */
	char *phys_state;	    /* "LinkUp", "Polling" … */
	RD_FIELD(double) rate_gbps; /* of a RoCE LAG: of all links that carry traffic; see rd_host_fill_lags */
	RD_FIELD(double) leg_gbps;  /* of a bonded port: the kernel's value, the rate of one link; else absent */
	unsigned lag_active;	    /* links of a RoCE LAG that carry traffic; 0: not in a LAG */
	RD_FIELD(unsigned) mtu;	    /* payload bytes of an RDMA packet, in use */
	RD_FIELD(unsigned) max_mtu; /* supported by the device */
	RD_FIELD(unsigned) lid;
	RD_FIELD(unsigned) sm_lid;
	RD_FIELD(uint64_t) link_downed; /* times; saturates at 255 on InfiniBand */
	unsigned width;			/* lanes: 4 of "4X NDR"; 0: unknown */
	char *speed;			/* "NDR" */
	uint16_t *pkeys;		/* without entries that are 0 */
	size_t n_pkeys, cap_pkeys;
	bool pkeys_known;
	char *guid;	     /* "506b:4b03:00a1:420c" */
	struct rd_gid *gids; /* without empty entries */
	size_t n_gids, cap_gids;
	bool gids_known;      /* the whole table was read, or what is read of it */
	unsigned gids_unread; /* the first entry that was left out; 0: none was */
	bool foreign_gids;    /* has GIDs of interfaces in other network namespaces */
	bool raw;	      /* its GID table has no entries at all: raw packets only, as of mana without RDMA */
	int *netdevs;	      /* its interfaces, the main one first */
	size_t n_netdevs, cap_netdevs;
	char *netdev_name;  /* first interface, even if in another network namespace */
	bool netns_other;   /* its interface is in another network namespace */
	RD_FIELD(bool) gdr; /* from a topology file: NCCL found GPUDirect RDMA support */
};

struct rd_ibdev {
	char *name; /* NULL: not named in the topology file */
	int pci;
	uint32_t sf;	 /* subfunction of mlx5, from 1; 0: the function itself */
	int data_direct; /* PCI function for access to accelerator memory (ConnectX-8); -1: none known */
	const char *via; /* how its PCI function was found: "device", "netdev", "topology file"; NULL: not found */
	int numa;	 /* node, if it has no PCI function; -1: unknown */
	char *firmware, *board, *hca_type, *node_guid, *sys_image_guid, *node_desc, *driver;
	bool iwarp;	     /* node type is RNIC: RDMA over TCP, without InfiniBand GIDs */
	char *parent_netdev; /* of a soft device: the interface below */
	char *lag_mode; /* how mlx5 spreads a RoCE LAG: "hash", "queue_affinity", …; NULL: no LAG, or not readable */
	int first_port;
	unsigned n_ports;
	bool ports_unread; /* the ports could not be listed: there may be more */
};

struct rd_addr {
	bool v6;
	uint8_t raw[16]; /* IPv4: the first 4 bytes */
	unsigned prefix;
};

struct rd_netdev {
	char *name;
	unsigned ifindex;
	int pci;
	uint32_t sf;	/* as of an RDMA device */
	int ibdev_port; /* dev_port: port of its card, from 0; -1: unknown */
	char *operstate;
	RD_FIELD(unsigned) mtu;
	RD_FIELD(unsigned) type;       /* ARPHRD_*: 1 Ethernet, 32 InfiniBand */
	RD_FIELD(double) rate_gbps;    /* only read of slaves of a bond */
	char *master;		       /* bond or bridge above it */
	char *bond_state;	       /* of a bond's slave: "active", "backup" */
	char *bond_mode;	       /* of a bond: "802.3ad 4" */
	RD_FIELD(unsigned) aggregator; /* LACP: that of a slave, or the one that the bond uses */
	char *ipoib_mode;	       /* "datagram", "connected" */
	char *mac;
	bool was_read; /* attributes in sysfs were read; not of most interfaces */
	bool is_bond;
	bool represents; /* a virtual function, or another one that a switch serves (switchdev): not the port */
	bool default_route;
	struct rd_addr *addrs;
	size_t n_addrs, cap_addrs;
};

/* NVLinks of an accelerator to one peer. Only from topology files: the kernel does not expose them. */
struct rd_nvlink {
	char target[RD_PCI_ADDR]; /* "" for NVSwitches */
	unsigned n;
};

struct rd_gpu {
	int pci;
	unsigned index; /* in PCI order, as in nvidia-smi */
	RD_FIELD(unsigned) minor;
	const char *vendor; /* static; NULL: unknown vendor */
	char *name, *uuid;
	int dev; /* NCCL's number: from a topology file, else index */
	/* From a topology file: */
	RD_FIELD(unsigned) sm;	     /* compute capability, 80 for 8.0 */
	RD_FIELD(bool) gdr;	     /* NCCL found that NICs can access its memory */
	RD_FIELD(double) c2c_gbytes; /* GB/s of the link to its CPU (Grace) */
	struct rd_nvlink *nvlinks;
	size_t n_nvlinks, cap_nvlinks;
};

struct rd_cpu {
	char *arch;   /* "x86_64" */
	char *vendor; /* "GenuineIntel" */
	RD_FIELD(unsigned) family, model;
};

struct rd_host {
	bool from_topology_file; /* NCCL topology XML: its bridges represent switches, its CPUs host bridges */
	bool file_whole;	 /* written by --nccl-xml: contains host bridges, and all bridges above its devices */
	bool has_data_direct;	 /* data direct functions exist, of whatever device */
	bool has_nvswitch;	 /* NVSwitches on PCI (HGX A100 and H100): NVLink between all accelerators */
	RD_FIELD(bool) guest;	 /* runs in a virtual machine */
	bool hyper_v;		 /* by the BIOS version, as RCCL finds out */
	RD_FIELD(bool) numa_balancing;
	int rdma_error; /* errno of listing /sys/class/infiniband: ENOENT (no RDMA stack) or another; 0: listed */
	struct rd_cpu cpu;
	struct rd_pci *pcis;
	size_t n_pcis, cap_pcis;
	struct rd_numa *numas;
	size_t n_numas, cap_numas;
	struct rd_ibdev *ibdevs;
	size_t n_ibdevs, cap_ibdevs;
	struct rd_port *ports; /* grouped by device */
	size_t n_ports, cap_ports;
	struct rd_netdev *netdevs;
	size_t n_netdevs, cap_netdevs;
	struct rd_gpu *gpus;
	size_t n_gpus, cap_gpus;
	char *ids; /* the text of pci.ids, for names; NULL: none */
	size_t ids_size;
};

void rd_host_deinit(struct rd_host *host);

/*
 * Limits: many algorithms compare all ports with each other, or all accelerators with all NICs. The largest hosts have 16
 * accelerators and 200 RDMA devices, or 8 and 2,000 with virtual functions for guests.
 */
#define RD_HOST_PORTS_MAX 2048
#define RD_HOST_NETDEVS_MAX 16384
#define RD_HOST_GPUS_MAX 512
#define RD_HOST_PAIRS_MAX 16384
#define RD_HOST_GIDS_MAX 131072

/* 0, or -E2BIG with `err` naming the exceeded limit. */
int rd_host_within_bounds(const struct rd_host *host, struct rd_err *err);

/* Add an element and return it, zeroed except for its indices (-1). The pointer is valid until the next call. */
struct rd_pci *rd_host_add_pci(struct rd_host *host);
struct rd_ibdev *rd_host_add_ibdev(struct rd_host *host);
struct rd_port *rd_host_add_port(struct rd_host *host, int ibdev);
struct rd_netdev *rd_host_add_netdev(struct rd_host *host);
struct rd_gpu *rd_host_add_gpu(struct rd_host *host);
struct rd_numa *rd_host_add_numa(struct rd_host *host);

/* "0000:1b:00.0", "1b:00.0", also with 32-bit domains. Fills domain, bus, dev, fn and addr; -EINVAL if it is not an address. */
int rd_pci_parse(const char *text, struct rd_pci *ret);

/* Index; -1: not found. */
int rd_host_find_pci(const struct rd_host *host, const char *addr);

/* The RDMA device of a function itself, not a soft one on its interface; the accelerator; the root port above; -1: none. */
int rd_host_ibdev_at(const struct rd_host *host, int pci);
int rd_host_gpu_at(const struct rd_host *host, int pci);
int rd_pci_top(const struct rd_host *host, int pci);

/* Whether a function is this bridge, or is somewhere below it. */
bool rd_pci_is_below(const struct rd_host *host, int pci, int bridge);
int rd_host_find_ibdev(const struct rd_host *host, const char *name);
int rd_host_find_netdev(const struct rd_host *host, const char *name);
const struct rd_numa *rd_host_find_numa(const struct rd_host *host, int id);
/* Whether two NUMA nodes are on one socket: 1, 0; -1: the socket of one is unknown. */
int rd_host_same_socket(const struct rd_host *host, int node_a, int node_b);

/* A device's name, else its PCI address, else "?". */
const char *rd_ibdev_label(const struct rd_host *host, int ibdev);

/* The same with the port, as in rdma(8): "mlx5_0/1"; without port if its number is unknown. */
struct rd_port_name {
	char text[128];
};
struct rd_port_name rd_port_label(const struct rd_host *host, const struct rd_port *port);

/* The same in the form of NCCL, NVSHMEM and UCX: "mlx5_0:1". */
struct rd_port_name rd_port_library_name(const struct rd_host *host, const struct rd_port *port);

/* NUMA node of a device or accelerator; -1: none, or unknown. */
int rd_ibdev_numa(const struct rd_host *host, int ibdev);
int rd_pci_numa(const struct rd_host *host, int pci);

/* Elastic Fabric Adapter: has its own kind of GID, and no link layer known to the kernel. Its driver always reports ports as
 * ACTIVE and LinkUp. NCCL's InfiniBand transport does not use it. */
bool rd_ibdev_is_efa(const struct rd_host *host, int ibdev);
bool rd_host_has_efa(const struct rd_host *host);
/* The 24 ports of a Gaudi, which is accelerator and NIC in one: most are wired to its neighbours, and addressed by MAC. Their
 * GIDs are link-local by design, and only used by HCCL. */
bool rd_ibdev_is_gaudi(const struct rd_host *host, int ibdev);

/* What is given on the kernel command line for an IOMMU that does not translate. */
const char *rd_host_passthrough(const struct rd_host *host);
/* What its vendor calls it. */
const char *rd_host_iommu(const struct rd_host *host);

/* Whether this driver reserves a function for a virtual machine: vfio-pci and its variants, pci-stub, xen-pciback. NULL: no. */
bool rd_driver_is_for_guests(const char *driver);
/* Whether an accelerator is reserved so. */
bool rd_gpu_is_for_guest(const struct rd_host *host, size_t gpu);

/* IPv6 link-local addresses are assigned automatically, and do not count. */
bool rd_netdev_has_address(const struct rd_netdev *netdev);

/* It is part of the processor, and uses its memory. */
bool rd_gpu_in_processor(const struct rd_host *host, size_t gpu);

/* NICs reach its memory over PCI Express, for programs of this host. */
bool rd_gpu_is_peer(const struct rd_host *host, size_t gpu);

/* Whether there is such an accelerator. */
bool rd_host_has_peer(const struct rd_host *host);

bool rd_port_active(const struct rd_port *port);
/* The interface of this port that carries the default route, or the bond or bridge above one that does; NULL: none. */
const struct rd_netdev *rd_port_route(const struct rd_host *host, const struct rd_port *port);
/* Whether the port has an address, or is part of a bond or below what has one: it is meant to be used. GIDs of IPv6 link-local
 * addresses do not count. */
bool rd_port_is_configured(const struct rd_host *host, const struct rd_port *port);
/* Whether an interface of this port has a carrier. */
bool rd_port_has_carrier(const struct rd_host *host, const struct rd_port *port);
/* Whether both are functions of one card. */
bool rd_pci_one_card(const struct rd_pci *a, const struct rd_pci *b);

/* The bond of the interface of a function; -1: none, or unknown. */
int rd_host_bond_of(const struct rd_host *host, int pci);

/*
 * RoCE LAG: mlx5 merges the two ports of a card into one RDMA device if their interfaces are slaves of one bond; the second
 * function then has no device. The kernel reports the rate of one port (its PTYS register), while queue pairs spread over
 * both: sets rate_gbps to the sum of the slaves that carry traffic; leaves it unchanged if the state of a slave is unknown.
 * May be called again.
 */
void rd_host_fill_lags(struct rd_host *host);

bool rd_port_is_ethernet(const struct rd_port *port);
/* Over Ethernet, and not iWARP, for which the kernel shows the MAC address as a GID of "IB/RoCE v1". */
bool rd_port_is_roce(const struct rd_host *host, const struct rd_port *port);
bool rd_port_is_ib(const struct rd_port *port);

/* "IB", "RoCE v1", "RoCE v2"; NULL for unknown. */
const char *rd_gid_type_name(enum rd_gid_type type);

bool rd_gid_is_v4(const struct rd_gid *gid);	     /* ::ffff:a.b.c.d */
bool rd_gid_is_link_local(const struct rd_gid *gid); /* fe80::/64 */
/* "fe80:0000:…", eight groups, as sysfs has it. `ret`: 40 bytes. */
void rd_gid_text(const struct rd_gid *gid, char *ret);
/* The IP address in a RoCE GID, in its usual form. `ret`: 46 bytes. */
void rd_gid_ip(const struct rd_gid *gid, char *ret);
/* Whether all GIDs of known type are RoCE v1, and there is one. */
bool rd_port_is_v1_only(const struct rd_port *port);

/* PCI Express properties of functions: depth, links, payload sizes. */

static inline bool rd_pci_is_bridge(const struct rd_pci *pci)
{
	return pci->class.known == RD_OK && pci->class.v >> 8 == RD_PCI_CLASS_BRIDGE;
}

/* Bridges above it; 0: on a root bus. */
unsigned rd_pcie_depth(const struct rd_host *host, int pci);

/* Whether a link leads up from this function: an endpoint, or the upstream port of a switch. If configuration space is not
 * readable, the depth decides: below a root port, upstream and downstream ports alternate. */
bool rd_pcie_links_up(const struct rd_host *host, int pci);

/* What both ends of the link up from a function support: lanes; megatransfers per second and lane. 0: unknown. */
unsigned rd_pcie_can_width(const struct rd_host *host, int pci);
unsigned rd_pcie_can_mtps(const struct rd_host *host, int pci);

/* Data rate of a link in one direction after line coding, Gbit/s. */
double rd_pcie_gbps(unsigned mtps, unsigned width);

/* Whether a bridge is part of an accelerator: of the same vendor (with nothing else below). Its links are those of the
 * accelerator. `gpu`: the accelerator's function. */
bool rd_pcie_is_gpu_part(const struct rd_host *host, int bridge, int gpu);

/* Whether this is a virtual function: it has a visible physical function; or the host is a guest and the function has no link
 * attributes. Most of its Device Control register reads as zero and is meaningless. */
bool rd_pcie_is_vf(const struct rd_host *host, const struct rd_pci *pci);

/* Whether the host is a virtual machine: its bridges may be emulated. */
bool rd_pcie_in_guest(const struct rd_host *host);

/* Max Payload Size in use, in bytes. Needs dev_ctl. */
unsigned rd_pcie_payload(const struct rd_pci *pci);
/* Largest Max Payload Size that it and all bridges above support, as far as known. Needs dev_cap. */
unsigned rd_pcie_payload_path(const struct rd_host *host, const struct rd_pci *pci);
/* Max Read Request Size in bytes. Needs dev_ctl. */
unsigned rd_pcie_read_request(const struct rd_pci *pci);

/* The RDMA devices and ports of a host that the user named. It only limits what is shown, never what is concluded. */

/* NULL arrays: all. */
struct rd_selection {
	bool *ibdevs; /* a device of which at least one port is selected */
	bool *ports;
};

/* `names`: DEVICE, DEVICE/PORT (see rd_port_fits), interfaces of a port or PCI addresses, separated by commas; NULL: all. -ENODEV
 * with err filled if one of them does not exist. The caller deinits `ret`. */
int rd_selection_make(const struct rd_host *host, const char *names, struct rd_selection *ret, struct rd_err *err);
void rd_selection_deinit(struct rd_selection *selection);

static inline bool rd_selection_has_ibdev(const struct rd_selection *selection, size_t ibdev)
{
	return !selection->ibdevs || selection->ibdevs[ibdev];
}

static inline bool rd_selection_has_port(const struct rd_selection *selection, size_t port)
{
	return !selection->ports || selection->ports[port];
}

/*
 * Devices that differ from like devices of the same host: devices of one kind in like places are twins, switches of one model
 * at one depth are sisters. All should have what most of them have. See analyse/shared/symmetry.h.
 */

/* Properties by which twins are compared. */
enum rd_trait {
	RD_TRAIT_WIDTH = 0, /* lanes in use on the link up from this function */
	RD_TRAIT_SPEED,	    /* its speed; not of accelerators, which lower it when idle */
	RD_TRAIT_MAX_WIDTH, /* supported by both ends */
	RD_TRAIT_MAX_SPEED,
	RD_TRAIT_MPS, /* Max Payload Size, among equal limits of the path */
	RD_TRAIT_MRRS,
	RD_TRAIT_RELAXED,
	RD_TRAIT_GPU_DRIVER,
	RD_TRAIT_NIC_DRIVER,
	RD_TRAIT_FIRMWARE,
	RD_TRAIT_LAYER, /* from here on properties of ports */
	RD_TRAIT_RATE,
	RD_TRAIT_MTU,
	RD_TRAIT_GID, /* index of the first RoCE v2 GID with an IPv4 address, types */
	RD_N_TRAITS,
};

/* A twin that differs from most of its twins. */
struct rd_odd {
	enum rd_trait trait;
	int pci, port;	   /* port: -1 for traits of functions */
	unsigned n, twins; /* number compared, including this one; number with the usual value */
	bool clear;	   /* clearly an exception; else there are two groups, and neither is at fault */
	bool less;	   /* a number below the usual value */
	char *is, *usual;  /* owned */
	int like;	   /* the function of a twin with the usual value */
};

enum rd_missing_sure {
	RD_MISSING_MAYBE = 0, /* uneven, but possibly by design */
	RD_MISSING_LIKELY,
	RD_MISSING_CLEAR,
};

/* Accelerators or NICs that are missing according to the pattern. */
struct rd_missing {
	bool gpu;
	int bridge;		  /* the switch (its upstream port), or the empty port; -1: unknown */
	unsigned found, wanted;	  /* below the bridge; with bridge -1: on the host */
	unsigned all, all_wanted; /* of this kind below all sisters */
	unsigned sisters, agree;  /* number of bridges compared, number of them with the wanted count */
	enum rd_missing_sure sure;
	int like;    /* a complete sister; -1: none */
	char *empty; /* addresses of empty ports below it; NULL: none. Owned */
};

struct rd_symmetry {
	struct rd_odd *odds;
	size_t n_odds, cap_odds;
	struct rd_missing *missing;
	size_t n_missing, cap_missing;
	unsigned compared[RD_N_TRAITS]; /* functions or ports that have a twin to be compared with */
	unsigned unread[RD_N_TRAITS];	/* those whose value is unknown */
	unsigned sisters;		/* switches that were compared */
};

void rd_symmetry_deinit(struct rd_symmetry *symmetry);

/* The difference of this function (port: -1) or port in this trait; NULL: none, or `symmetry` is NULL. */
const struct rd_odd *rd_symmetry_odd(const struct rd_symmetry *symmetry, enum rd_trait trait, int pci, int port);

#endif
