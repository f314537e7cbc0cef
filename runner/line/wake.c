/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wake.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/procid.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/paths.h"

static int address(const char *path, struct sockaddr_un *ret)
{
	size_t length = strlen(path);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (length >= sizeof ret->sun_path)
		return -1;
	memcpy(ret->sun_path, path, length + 1);
	return 0;
}

void wake_open(struct wake *wake)
{
	char notice[256], folder[PATHS_RUNTIME];
	struct err ignored = ERR_NONE;
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	*wake = WAKE_NONE;
	SCOPE_FD int folder_fd = paths_runtime_open(folder, notice, &ignored);
	if (notice[0])
		say("%s", notice);
	if (folder_fd < 0)
		return;
	int length = fmt(name.sun_path, sizeof name.sun_path, "%s/%d-%llu", folder, procid_self()->pid,
			 (unsigned long long)procid_self()->start);
	SCOPE_FD int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || length >= (int)sizeof name.sun_path)
		return;
	int bound = bind(fd, (struct sockaddr *)&name, sizeof name);
	/* A socket of our own pid and start time can only be left from before a lost runtime folder came back. */
	if (bound < 0 && errno == EADDRINUSE && unlink(name.sun_path) == 0)
		bound = bind(fd, (struct sockaddr *)&name, sizeof name);
	if (bound < 0 || listen(fd, SOMAXCONN) < 0)
		return;
	wake->user = geteuid();
	memcpy(wake->path, name.sun_path, sizeof wake->path);
	wake->fd = TAKE_FD(fd);
	wake->folder_fd = TAKE_FD(folder_fd);
}

void wake_close(struct wake *wake)
{
	if (wake->path[0])
		unlink(wake->path);
	scope_close(&wake->fd);
	scope_close(&wake->folder_fd);
	*wake = WAKE_NONE;
}

/* Strangers get no farther than the folder; should they, they are not to keep us from our work. */
int wake_accept(struct wake *wake)
{
	enum { STRANGERS = 64 };

	for (int tries = 0; tries < STRANGERS; tries++) {
		SCOPE_FD int fd = accept4(wake->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred peer;
		socklen_t size = sizeof peer;
		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			return -1;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
		    (peer.uid == wake->user || peer.uid == 0))
			return TAKE_FD(fd);
	}
	return -1;
}

int wake_receive(int fd, char *text)
{
	ssize_t got;

	do
		got = recv(fd, text, WAKE_MESSAGE - 1, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? -1 : 0;
	text[got] = '\0';
	return (int)got;
}

/* Whoever bound the socket is of our user: a folder on the way to it may be one that others can exchange. */
static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0 || geteuid() == 0);
}

static int call(const char *path, const char *message)
{
	SCOPE_FD int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un name;

	if (fd < 0 || address(path, &name) < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&name, sizeof name) < 0)
		return -1;
	if (!is_ours(fd)) {
		errno = EPERM;
		return -1;
	}
	if (send(fd, message, strlen(message), MSG_NOSIGNAL) < 0)
		return -1;
	return TAKE_FD(fd);
}

int wake_look(const struct entry *to)
{
	int fd = to->socket[0] ? call(to->socket, "look") : -1;

	if (fd < 0)
		procid_signal(&to->owner, SIGURG);
	return fd;
}

/* Who listens at the other end. */
static void continue_stopped(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	struct procid id;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 &&
	    procid_read(peer.pid, &id) == 0 && procid_stopped(&id))
		procid_signal(&id, SIGCONT);
}

bool wake_is_there(int fd)
{
	struct pollfd end = { .fd = fd };

	return poll(&end, 1, 0) == 0;
}

int wake_ask(const char *path, const char *message, char *answer, int timeout_ms)
{
	SCOPE_FD int fd = call(path, message);
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int count = 0;

	if (fd < 0)
		return -1;
	for (int64_t waited = 0; count == 0 && (timeout_ms < 0 || waited < timeout_ms); waited += 1000) {
		count = poll(&ready, 1, 1000);
		if (count < 0 && errno == EINTR)
			count = 0;
		if (count == 0)
			continue_stopped(fd);
	}
	if (count == 0)
		errno = ETIMEDOUT;
	if (count <= 0)
		return -1;
	int got = wake_receive(fd, answer);
	if (got == 0)
		errno = ECONNRESET;
	return got > 0 ? got : -1;
}
