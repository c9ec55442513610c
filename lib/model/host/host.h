/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a host is made of, as far as RDMA is concerned: PCI functions and the bridges above them, RDMA devices with their
 * ports and GIDs, network interfaces, accelerators, NUMA nodes. Plain data: one owner, arrays, indices between objects
 * (-1: none). Text is NULL where it is not known.
 */
#ifndef RD_MODEL_HOST_H
#define RD_MODEL_HOST_H

#include "base/base.h"
#include "base/err.h"

#define RD_PCI_ADDR 24 /* room for "7fffffff:ff:1f.7" */

/* One direction-less PCI Express link, from this function up. */
struct rd_pcie_link {
	RD_FIELD(unsigned) mtps; /* megatransfers a second and lane: 16000 is PCI Express 4.0 */
	RD_FIELD(unsigned) width;
};

/* What a bridge is in a PCI Express tree (capability register, bits 7:4). */
enum rd_pcie_kind {
	RD_PCIE_OTHER = 0,
	RD_PCIE_ROOT_PORT,
	RD_PCIE_UPSTREAM,
	RD_PCIE_DOWNSTREAM,
	RD_PCIE_ENDPOINT,
};

/* PCI base classes, as in bits 23:16 of the class code. */
enum {
	RD_PCI_NETWORK = 0x02,
	RD_PCI_DISPLAY = 0x03,
	RD_PCI_BRIDGE = 0x06,
	RD_PCI_ACCELERATOR = 0x12,
};
#define RD_PCI_CLASS_NVSWITCH 0x0680	/* "other bridge", of NVIDIA */
#define RD_PCI_CLASS_DATA_DIRECT 0x0801 /* of Mellanox */
#define RD_PCI_CLASS_BRIDGE 0x0604	/* PCI-to-PCI bridge, bits 23:8 */

/* A base address register that is mapped. */
struct rd_bar {
	unsigned index;	      /* 0..5 */
	uint64_t start, size; /* bytes */
};

/* What of a function's configuration space rules judge. Absent: it has no such capability, or nobody asked; denied:
 * lies behind the 64 bytes that everybody may read. Registers as in the PCI Express Base Specification. */
struct rd_pci_config {
	RD_FIELD(uint32_t) dev_cap, dev_cap2, slot_cap;
	RD_FIELD(uint16_t) dev_ctl, dev_ctl2;
	RD_FIELD(uint16_t) ats_ctl;
};

/* Errors since boot, as Advanced Error Reporting counted them. */
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
	RD_FIELD(int) numa; /* as the kernel has it: -1 is "none", and known */
	struct rd_pcie_link now, max;
	RD_FIELD(int) kind;	    /* enum rd_pcie_kind */
	RD_FIELD(uint16_t) acs_ctl; /* Access Control Services, control register; absent: has none, or not readable */
	bool acs_missing;	    /* all of config space was read, and there is no ACS capability in it */
	char *driver;
	char *slot;	    /* physical slot's name */
	int pf;		    /* a virtual function's physical one */
	bool config_read;   /* as far as it could be */
	bool extras_read;   /* errors, power, IOMMU, base addresses have been looked for */
	bool config_denied; /* only its first 64 bytes could be read */
	bool no_answer;	    /* reads of it are answered with ones: it is not on the bus any more */
	struct rd_pci_config config;
	struct rd_pci_aer aer;
	struct rd_bar bars[6];
	unsigned n_bars;
	char *power_state; /* "D0", "D3cold" */
	RD_FIELD(int) iommu_group;
	char *iommu_type;  /* "identity", "DMA", "DMA-FQ" */
	bool iommu_shared; /* functions of another kind and card are in its group */
	bool detailed;	   /* more than class and place has been read */
};

struct rd_numa {
	int id;
	char *cpulist; /* "0-15,64-79" */
	/* The socket of its first processor, numbered as firmware likes. NPS (AMD) and SNC (Intel) make several nodes of
	 * one socket. Absent: not told, or a node of memory only. */
	RD_FIELD(int) package;
};

enum rd_gid_type { RD_GID_UNKNOWN = 0, RD_GID_IB, RD_GID_ROCE_V1, RD_GID_ROCE_V2 };

struct rd_gid {
	unsigned index;
	uint8_t raw[16];
	enum rd_gid_type type;
	char *netdev; /* the interface it came from; NULL: none of this network namespace */
};

struct rd_port {
	int ibdev;
	unsigned num;		    /* 0: not known (a topology file that names no port) */
	char *link_layer;	    /* "InfiniBand", "Ethernet" */
	char *state;		    /* "ACTIVE", "DOWN" … */
	char *phys_state;	    /* "LinkUp", "Polling" … */
	RD_FIELD(double) rate_gbps; /* of a RoCE LAG: of all links that carry traffic; see rd_host_fill_lags */
	RD_FIELD(double) leg_gbps;  /* of a bound port: what the kernel says, the rate of one link; else absent */
	unsigned lag_active;	    /* links of a RoCE LAG that carry traffic; 0: it is in none */
	RD_FIELD(unsigned) mtu;	    /* bytes of payload in an RDMA packet, as it is in use */
	RD_FIELD(unsigned) max_mtu; /* as the device could */
	RD_FIELD(unsigned) lid;
	RD_FIELD(unsigned) sm_lid;
	RD_FIELD(uint64_t) link_downed; /* times; saturates at 255 on InfiniBand */
	unsigned width;			/* lanes: 4 of "4X NDR"; 0: not known */
	char *speed;			/* "NDR" */
	uint16_t *pkeys;		/* those that are not 0 */
	size_t n_pkeys, cap_pkeys;
	bool pkeys_known;
	char *guid;	     /* "506b:4b03:00a1:420c" */
	struct rd_gid *gids; /* those that are not empty */
	size_t n_gids, cap_gids;
	bool gids_known;   /* its table could be listed */
	bool foreign_gids; /* has GIDs of interfaces that this network namespace does not have */
	int *netdevs;	   /* interfaces on it, the one to name first first */
	size_t n_netdevs, cap_netdevs;
	char *netdev_name;  /* first interface, also one that is not of this network namespace */
	bool netns_other;   /* its interface is not of this network namespace */
	RD_FIELD(bool) gdr; /* of a topology file: NCCL found that this NIC takes memory of accelerators */
};

struct rd_ibdev {
	char *name; /* NULL: a topology file that does not name it */
	int pci;
	int data_direct; /* PCI function by which it reaches memory of accelerators (ConnectX-8); -1: none is known */
	const char *via; /* how it was joined to PCI: "device", "netdev", "topology file"; NULL: it is not */
	int numa;	 /* where it has no PCI function: node it hangs on; -1: not known */
	char *firmware, *board, *hca_type, *node_guid, *sys_image_guid, *node_desc, *driver;
	bool iwarp;	     /* its node type is RNIC: RDMA over TCP, which has no GIDs of InfiniBand */
	char *parent_netdev; /* of a soft device: the interface that it sits on */
	int first_port;
	unsigned n_ports;
	bool ports_unread; /* they could not be listed: there may be more */
};

struct rd_addr {
	bool v6;
	uint8_t raw[16]; /* the first 4 of an IPv4 address */
	unsigned prefix;
};

struct rd_netdev {
	char *name;
	unsigned ifindex;
	int pci;
	int ibdev_port; /* dev_port: which port of its card, from 0; -1: not known */
	char *operstate;
	RD_FIELD(unsigned) mtu;
	RD_FIELD(unsigned) type;    /* ARPHRD_*: 1 Ethernet, 32 InfiniBand */
	RD_FIELD(double) rate_gbps; /* read of a bond's slaves only */
	char *master;		    /* bond or bridge above it */
	char *bond_state;	    /* of a bond's slave: "active", "backup" */
	char *ipoib_mode;	    /* "datagram", "connected" */
	char *mac;
	bool was_read; /* what stands below its name in sysfs; of most interfaces nobody asks */
	bool is_bond;
	bool default_route;
	struct rd_addr *addrs;
	size_t n_addrs, cap_addrs;
};

/* NVLinks of one accelerator to one other end. Only topology files tell them: the kernel does not. */
struct rd_nvlink {
	char target[RD_PCI_ADDR]; /* "" for NVSwitches */
	unsigned n;
};

struct rd_gpu {
	int pci;
	unsigned index; /* in PCI order, as nvidia-smi counts */
	RD_FIELD(unsigned) minor;
	const char *vendor; /* static; NULL: not one we know */
	char *name, *uuid;
	int dev; /* NCCL's number: from a topology file, else index */
	/* Of a topology file: */
	RD_FIELD(unsigned) sm;	     /* compute capability, 80 for 8.0 */
	RD_FIELD(bool) gdr;	     /* NCCL found that a NIC can read and write its memory */
	RD_FIELD(double) c2c_gbytes; /* a second of the link to its CPU (Grace) */
	struct rd_nvlink *nvlinks;
	size_t n_nvlinks, cap_nvlinks;
};

struct rd_cpu {
	char *arch;   /* "x86_64" */
	char *vendor; /* "GenuineIntel" */
	RD_FIELD(unsigned) family, model;
};

struct rd_host {
	bool from_topology_file; /* an NCCL topology XML: a bridge in it stands for a switch, and CPUs for host bridges */
	bool file_whole;	 /* --nccl-xml wrote it: it names host bridges, and all bridges between what is in it */
	bool has_data_direct;	 /* there are such functions, whichever devices they belong to */
	bool has_nvswitch;    /* NVSwitches are on PCI (HGX A100 and H100): each accelerator reaches each other one */
	RD_FIELD(bool) guest; /* runs under a hypervisor */
	int rdma_error; /* why /sys/class/infiniband could not be listed: ENOENT (no RDMA stack) or another errno; 0: it was */
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
	char *ids; /* the text of pci.ids, for names; NULL: there is none */
	size_t ids_size;
};

void rd_host_deinit(struct rd_host *host);

/*
 * Bounds of what is judged and shown: much is a matter of all ports with all others, and of each accelerator with each NIC.
 * The largest hosts have 16 accelerators and 200 RDMA devices, or 8 and 2,000 where virtual functions are shared out to guests.
 */
#define RD_HOST_PORTS_MAX 2048
#define RD_HOST_NETDEVS_MAX 16384
#define RD_HOST_GPUS_MAX 512
#define RD_HOST_PAIRS_MAX 16384
#define RD_HOST_GIDS_MAX 131072

/* 0, or -E2BIG with what there is too much of. */
int rd_host_within_bounds(const struct rd_host *host, struct rd_err *err);

/* Adding. Return the new element, zeroed but for its indices (-1). Good until the next. */
struct rd_pci *rd_host_add_pci(struct rd_host *host);
struct rd_ibdev *rd_host_add_ibdev(struct rd_host *host);
struct rd_port *rd_host_add_port(struct rd_host *host, int ibdev);
struct rd_netdev *rd_host_add_netdev(struct rd_host *host);
struct rd_gpu *rd_host_add_gpu(struct rd_host *host);
struct rd_numa *rd_host_add_numa(struct rd_host *host);

/* "0000:1b:00.0", "1b:00.0", also with 32-bit domains. Fills domain, bus, dev, fn and addr; -EINVAL if it is no address. */
int rd_pci_parse(const char *text, struct rd_pci *ret);

/* Index or -1. */
int rd_host_find_pci(const struct rd_host *host, const char *addr);
int rd_host_find_ibdev(const struct rd_host *host, const char *name);
int rd_host_find_netdev(const struct rd_host *host, const char *name);
const struct rd_numa *rd_host_find_numa(const struct rd_host *host, int id);
/* Whether two NUMA nodes are of one socket: 1, 0; -1: sysfs does not tell the socket of one of them. */
int rd_host_same_socket(const struct rd_host *host, int node_a, int node_b);

/* What to call a device: its name, else its PCI address, else "?". */
const char *rd_ibdev_label(const struct rd_host *host, int ibdev);

/* The same with the port, as rdma(8) writes it: "mlx5_0/1"; without where it has no number. */
void rd_port_label(const struct rd_host *host, const struct rd_port *port, char *ret, size_t size);

/* The same as variables and logs of NCCL, NVSHMEM and UCX write it: "mlx5_0:1". */
void rd_port_library_name(const struct rd_host *host, const struct rd_port *port, char *ret, size_t size);

/* NUMA node of a device or accelerator; -1: the kernel names none, or it is not known. */
int rd_ibdev_numa(const struct rd_host *host, int ibdev);
int rd_pci_numa(const struct rd_host *host, int pci);

/* Elastic Fabric Adapter: addressed by a GID of its own kind, of no link layer that the kernel names. Its driver reports
 * all ports ACTIVE and LinkUp, as constants. NCCL's InfiniBand transport passes over it. */
bool rd_ibdev_is_efa(const struct rd_host *host, int ibdev);
/* The ports of a Gaudi, which is accelerator and NIC in one: 24 of them, most wired to its neighbours, addressed by MAC.
 * Their GIDs are link-local by design, and HCCL alone uses them. */
bool rd_ibdev_is_gaudi(const struct rd_host *host, int ibdev);

/* Whether a driver of this name keeps a function for a virtual machine: vfio-pci, pci-stub. NULL: no. */
bool rd_driver_is_for_guests(const char *driver);
/* Whether an accelerator is kept so. */
bool rd_gpu_is_for_guest(const struct rd_host *host, size_t gpu);

bool rd_port_active(const struct rd_port *port);
/* An interface of this port has a carrier. */
bool rd_port_has_carrier(const struct rd_host *host, const struct rd_port *port);
/* Functions of one card. */
bool rd_pci_one_card(const struct rd_pci *a, const struct rd_pci *b);

/* The bond that the interface of a function is bound into; -1: none, or not known. */
int rd_host_bond_of(const struct rd_host *host, int pci);

/*
 * RoCE LAG: mlx5 binds the two ports of a card into one RDMA device when their interfaces are bound into one bond; the
 * second function then has none. The kernel says the rate of one port (its PTYS register), while queue pairs spread over
 * both: rate_gbps becomes the sum of the slaves that carry traffic. It stays as it was where
 * a slave's state was not told. May be called again.
 */
void rd_host_fill_lags(struct rd_host *host);

bool rd_port_is_ethernet(const struct rd_port *port);
bool rd_port_is_ib(const struct rd_port *port);

/* "IB", "RoCE v1", "RoCE v2"; NULL for unknown. */
const char *rd_gid_type_name(enum rd_gid_type type);

bool rd_gid_is_v4(const struct rd_gid *gid);	     /* ::ffff:a.b.c.d */
bool rd_gid_is_link_local(const struct rd_gid *gid); /* fe80::/64 */
/* "fe80:0000:…", eight groups, as sysfs has it. `ret` has room for 40. */
void rd_gid_text(const struct rd_gid *gid, char *ret);
/* The IP address in a RoCE GID, in its usual form. `ret` has room for 46. */
void rd_gid_ip(const struct rd_gid *gid, char *ret);
/* Has GIDs, and all whose type is known are of RoCE v1. */
bool rd_port_is_v1_only(const struct rd_port *port);
/* The fix: firmware and driver determine the type of a GID, so no address changes it. */
#define RD_FIX_GID_V2                                                                                                 \
	"update firmware and driver, which determine the GID type; an address does not change it (ConnectX-3 Pro: "   \
	"options mlx4_core roce_mode=2); if the card supports only RoCE v1: NCCL_IB_ROCE_VERSION_NUM=1 on all hosts " \
	"of the subnet"

#endif
