/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile of a host, and differences from a profile. Pure. */
#ifndef RD_ANALYSE_PROFILE_H
#define RD_ANALYSE_PROFILE_H

#include "model/host/profile.h"
#include "model/host/system.h"
#include "model/nicmap/port-view.h"
#include "model/shared/finding.h"

/* The profile of this host, whose roles are set (rd_nicmap_analyse). `system` may be NULL: without modules and versions. `learn`: for
 * writing a profile: without values that change by themselves (a GPU's current link speed, state and rate of a port that is not
 * active, an interface that is down), and without values that could not be read. */
void rd_profile_of(const struct rd_port_views *views, const struct rd_system *system, bool learn,
		   struct rd_profile *ret);

/*
 * Differences of the host from the profile: first missing accelerators and NICs ("profile-gpu", "profile-nic"), then values
 * ("profile-value": subject, observed, expected). Lines of the kind "rule." are not compared. All values that could not be
 * read on this host become one finding of unknown. Modules and versions are not compared if `self` was built without them.
 */
void rd_profile_compare(const struct rd_profile *profile, const struct rd_profile *self, struct rd_findings *ret);

#endif
