/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host is in the words of a profile, and where it differs from one. Pure. */
#ifndef RD_ANALYSE_PROFILE_H
#define RD_ANALYSE_PROFILE_H

#include "model/host/profile.h"
#include "model/host/system.h"
#include "model/nicmap/port-view.h"
#include "model/shared/finding.h"

/* The lines of this host, whose roles are known (rd_nicmap_analyse). `system` may be NULL: nothing of modules and versions.
 */
void rd_profile_of(const struct rd_port_views *views, const struct rd_system *system, struct rd_profile *ret);

/* The same for writing it down: without what changes by itself (a GPU's present link speed, state and rate of a port that is
 * not active, an interface that is down), and without what could not be read. */
void rd_profile_learn(const struct rd_port_views *views, const struct rd_system *system, struct rd_profile *ret);

/*
 * What the profile has and the host has not, or otherwise: first accelerators and NICs that are missing ("profile-gpu",
 * "profile-nic"), then fields ("profile-value": subject, observed, expected). Lines of the kind "rule." are not compared.
 * What this host has and could not be read is one finding of unknown.
 * Modules and versions are left out where `self` was made without them.
 */
void rd_profile_compare(const struct rd_profile *profile, const struct rd_profile *self, struct rd_findings *ret);

#endif
