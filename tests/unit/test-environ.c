/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libraries see of the environment; whether the process is privileged is for the test to say. */
#include "unit.h"

#include <sys/auxv.h>

#include "base/environ.h"

static unsigned long secure;

unsigned long getauxval(unsigned long type)
{
	return type == AT_SECURE ? secure : 0;
}

static char *given[] = { "HOME=/tmp",
			 "TERM=xterm",
			 "TERMINFO=/tmp/terminfo",
			 "TERM_PROGRAM=x",
			 "IBV_DRIVERS=/tmp/x",
			 "RDMAV_DRIVERS=/tmp/x",
			 "LC_ALL=C.UTF-8",
			 "LC_ALL_FILES=/tmp",
			 "DEBUGINFOD_URLS=http://127.0.0.1/",
			 NULL };

static int give(void **state)
{
	*state = environ;
	environ = given;
	return 0;
}

/* The library of the tests asks it for the form of its output. */
static int take_back(void **state)
{
	environ = *state;
	return 0;
}

TEST_WITH(a_privileged_process_hides_what_may_name_files, give, take_back)
{
	char **whole;

	secure = 1;
	whole = rd_environ_hide();
	ASSERT_EACH(READS(environ[0], "LC_ALL=C.UTF-8"), READS(environ[1], "TERM=xterm"), IS(environ[2] == NULL, true));
	assert_null(getenv("TERMINFO"));
	rd_environ_show(whole);
	assert_string_equal(getenv("TERMINFO"), "/tmp/terminfo");
}

TEST_WITH(an_ordinary_one_hides_nothing, give, take_back)
{
	secure = 0;
	assert_ptr_equal(rd_environ_hide(), given);
	assert_ptr_equal(environ, given);
}

TEST_WITH(nothing_may_be_hidden, give, take_back)
{
	secure = 1;
	environ = NULL;
	assert_null(rd_environ_hide());
	assert_null(environ);
}
