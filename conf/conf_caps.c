/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf_caps.h"

#include <linux/capability.h>
#include <string.h>

#include "base/text.h"
#include "conf.h"
#include "conf/base/fmt.h"

enum { NAME = 20 };

/* Of bytes, not of pointers: a table of pointers is written to at every start (relocations). */
static const char names[][NAME] = {
	[CAP_CHOWN] = "chown",
	[CAP_DAC_OVERRIDE] = "dac_override",
	[CAP_DAC_READ_SEARCH] = "dac_read_search",
	[CAP_FOWNER] = "fowner",
	[CAP_FSETID] = "fsetid",
	[CAP_KILL] = "kill",
	[CAP_SETGID] = "setgid",
	[CAP_SETUID] = "setuid",
	[CAP_SETPCAP] = "setpcap",
	[CAP_LINUX_IMMUTABLE] = "linux_immutable",
	[CAP_NET_BIND_SERVICE] = "net_bind_service",
	[CAP_NET_BROADCAST] = "net_broadcast",
	[CAP_NET_ADMIN] = "net_admin",
	[CAP_NET_RAW] = "net_raw",
	[CAP_IPC_LOCK] = "ipc_lock",
	[CAP_IPC_OWNER] = "ipc_owner",
	[CAP_SYS_MODULE] = "sys_module",
	[CAP_SYS_RAWIO] = "sys_rawio",
	[CAP_SYS_CHROOT] = "sys_chroot",
	[CAP_SYS_PTRACE] = "sys_ptrace",
	[CAP_SYS_PACCT] = "sys_pacct",
	[CAP_SYS_ADMIN] = "sys_admin",
	[CAP_SYS_BOOT] = "sys_boot",
	[CAP_SYS_NICE] = "sys_nice",
	[CAP_SYS_RESOURCE] = "sys_resource",
	[CAP_SYS_TIME] = "sys_time",
	[CAP_SYS_TTY_CONFIG] = "sys_tty_config",
	[CAP_MKNOD] = "mknod",
	[CAP_LEASE] = "lease",
	[CAP_AUDIT_WRITE] = "audit_write",
	[CAP_AUDIT_CONTROL] = "audit_control",
	[CAP_SETFCAP] = "setfcap",
	[CAP_MAC_OVERRIDE] = "mac_override",
	[CAP_MAC_ADMIN] = "mac_admin",
	[CAP_SYSLOG] = "syslog",
	[CAP_WAKE_ALARM] = "wake_alarm",
	[CAP_BLOCK_SUSPEND] = "block_suspend",
	[CAP_AUDIT_READ] = "audit_read",
	[CAP_PERFMON] = "perfmon",
	[CAP_BPF] = "bpf",
	[CAP_CHECKPOINT_RESTORE] = "checkpoint_restore",
};
enum { NAMES = sizeof names / sizeof names[0] };

static int refuse(const char *name, struct err *err)
{
	const char *list[NAMES + 1];
	char hint[64];

	for (int i = 0; i < NAMES; i++)
		list[i] = names[i];
	list[NAMES] = NULL;
	text_hint(name, list, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "unknown capability '%.64s'%s", name, hint);
}

int conf_caps_read(const char *list, uint64_t *ret_caps, struct err *err)
{
	static const char between[] = " \t,";
	uint64_t caps = CONF_CAPS_LIMITED;
	char name[72];

	for (list += strspn(list, between); *list; list += strspn(list, between)) {
		size_t length = strcspn(list, between);
		fmt(name, sizeof name, "%.*s", (int)(length < 64 ? length : 64), list);
		const char *word = strncasecmp(name, "cap_", 4) == 0 ? name + 4 : name;
		int number = 0;
		while (number < NAMES && strcasecmp(names[number], word) != 0)
			number++;
		if (number == NAMES)
			return refuse(word, err);
		caps |= UINT64_C(1) << number;
		list += length;
	}
	*ret_caps = caps;
	return 0;
}

void conf_caps_print(uint64_t caps, struct buf *buf)
{
	const char *before = "{ ";

	for (int i = 0; i < NAMES; i++) {
		if (!(caps >> i & 1))
			continue;
		buf_printf(buf, "%s\"%s\"", before, names[i]);
		before = ", ";
	}
	buf_puts(buf, *before == ',' ? " }" : "{}");
}
