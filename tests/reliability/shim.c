/* Between a process and its C library: the n-th call on a file below one folder fails.
 *
 * Preloaded (LD_PRELOAD) it sees what SQLite, Python and Rust ask of the system alike. `arm` counts from zero; calls on
 * other files are not counted and never fail. What is failed is not done. Linux, glibc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char root[4096], failed_call[4400];
static size_t root_length;
static atomic_int armed, kind;
static atomic_long counted, fails_at, failures;

enum { EVERY = 1, LASTING = 2 }; /* every call or only those that need room; once or from then on */

void arm(const char *folder, long at, int mode) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    failed_call[0] = 0;
    counted = 0; failures = 0; fails_at = at; kind = mode; armed = 1;
}
long disarm(void) { armed = 0; return counted; }
void resume(void) { armed = 1; }
long failed(void) { return failures; }
const char *what(void) { return failed_call; }

static int below(const char *path) { return path && strncmp(path, root, root_length) == 0; }

static int of_descriptor(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

/* Whether this call fails; `room` says that it needs room on the disk. */
static int fails(const char *call, int fd, const char *name, int room) {
    if (!armed) return 0;
    int before = errno;
    char path[4096] = "", said[300] = "";
    const char *shown = name;
    if (!name || name[0] != '/') {
        if (fd != AT_FDCWD && !of_descriptor(fd, path, sizeof path)) return errno = before, 0;
        shown = path;
    }
    if (name && shown == path) snprintf(said, sizeof said, "/%s", name);
    errno = before;
    if (!below(shown) || (!(kind & EVERY) && !room)) return 0;
    long number = counted++;
    if (number < fails_at || (number > fails_at && !(kind & LASTING))) return 0;
    if (failures++ == 0) snprintf(failed_call, sizeof failed_call, "%s %s%s", call, shown, said);
    errno = kind & EVERY ? EIO : ENOSPC;
    return 1;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); }
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        MODE(flags) REAL(int, #name, const char *, int, ...); \
        return fails("open", AT_FDCWD, path, flags & O_CREAT) ? -1 : real(path, flags, mode); \
    }
#define OPENAT(name) \
    int name(int fd, const char *path, int flags, ...) { \
        MODE(flags) REAL(int, #name, int, const char *, int, ...); \
        return fails("open", fd, path, flags & O_CREAT) ? -1 : real(fd, path, flags, mode); \
    }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

ssize_t read(int fd, void *data, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t);
    return fails("read", fd, NULL, 0) ? -1 : real(fd, data, size);
}
ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return fails("write", fd, NULL, 1) ? -1 : real(fd, data, size);
}
#define PREAD(name) \
    ssize_t name(int fd, void *data, size_t size, off64_t at) { \
        REAL(ssize_t, #name, int, void *, size_t, off64_t); \
        return fails("read", fd, NULL, 0) ? -1 : real(fd, data, size, at); \
    }
#define PWRITE(name) \
    ssize_t name(int fd, const void *data, size_t size, off64_t at) { \
        REAL(ssize_t, #name, int, const void *, size_t, off64_t); \
        return fails("write", fd, NULL, 1) ? -1 : real(fd, data, size, at); \
    }
#define TRUNCATE(name) \
    int name(int fd, off64_t size) { \
        REAL(int, #name, int, off64_t); \
        return fails("truncate", fd, NULL, 1) ? -1 : real(fd, size); \
    }
#define SYNC(name) \
    int name(int fd) { \
        REAL(int, #name, int); \
        return fails(#name, fd, NULL, 1) ? -1 : real(fd); \
    }
PREAD(pread) PREAD(pread64) PWRITE(pwrite) PWRITE(pwrite64) TRUNCATE(ftruncate) TRUNCATE(ftruncate64)
SYNC(fsync) SYNC(fdatasync)

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return fails("rename", AT_FDCWD, to, 1) ? -1 : real(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    return fails("rename", b, to, 1) ? -1 : real(a, from, b, to);
}
int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return fails("mkdir", AT_FDCWD, path, 1) ? -1 : real(path, mode);
}
int mkdirat(int fd, const char *path, mode_t mode) {
    REAL(int, "mkdirat", int, const char *, mode_t);
    return fails("mkdir", fd, path, 1) ? -1 : real(fd, path, mode);
}
int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    return fails("unlink", AT_FDCWD, path, 0) ? -1 : real(path);
}
int unlinkat(int fd, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    return fails("unlink", fd, path, 0) ? -1 : real(fd, path, flags);
}
