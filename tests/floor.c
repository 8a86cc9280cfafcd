/* The floor of luzia: the durable and visible steps of its verbs, in one C program that decides nothing. tests/speed compiles
 * it and measures luzia against it.
 *
 *   floor enqueue DIR     one record written, synced and named, as `enqueue` answers
 *   floor drain DIR N     N tasks of one user from their records to their ends, as `dispatch --drain` does; prints tasks a second
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Bytes of the records of a task in luzia. */
enum { TASK = 2600, HOLD = 520, MARK = 35, START = 300, RESULT = 2900, META = 600, EVENT = 250 };

extern char **environ;
static char bytes[4096];

static int must(int value, const char *what) {
    if (value < 0) {
        perror(what);
        exit(1);
    }
    return value;
}

static int folder(int parent, const char *name) {
    mkdirat(parent, name, 0700);
    return must(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), name);
}

static int created(int dir, const char *name, size_t size) {
    int file = must(openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), name);
    must(write(file, bytes, size), name);
    return file;
}

static void put(int dir, const char *name, size_t size) { close(created(dir, name, size)); }

/* Replaces a file as a whole. */
static void replace(int dir, const char *name, size_t size) {
    char draft[64];
    snprintf(draft, sizeof draft, ".%s.tmp", name);
    put(dir, draft, size);
    must(renameat(dir, draft, dir, name), name);
}

static void removed(int dir, const char *name, int flags) { must(unlinkat(dir, name, flags), name); }

static int locked(int dir, const char *name) {
    int file = must(openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600), name);
    must(flock(file, LOCK_EX), name);
    return file;
}

static void enqueue(int root) {
    int queue = folder(root, "pending");
    char draft[32], name[32];
    snprintf(draft, sizeof draft, ".%d.tmp", getpid());
    snprintf(name, sizeof name, "%d.json", getpid());
    int file = created(root, draft, TASK);
    must(fdatasync(file), "fdatasync");
    must(renameat(root, draft, queue, name), name);
    must(fsync(queue), "fsync");
    puts("task_1");
}

static void run(void) {
    posix_spawnattr_t how;
    char *words[] = {"true", NULL};
    pid_t child;
    int status;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
    must(-posix_spawn(&child, "/bin/true", NULL, &how, words, environ), "posix_spawn");
    must(waitpid(child, &status, 0), "waitpid");
}

static void drain(int root, int count) {
    int queue = folder(root, "pending"), running = folder(root, "running"), done = folder(root, "done");
    int locks = folder(root, "locks"), active = folder(root, "active"), past = folder(root, "past");
    int events = must(openat(root, "events", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600), "events");
    char name[32], start[32], result[32], words[32], read_back[TASK];
    for (int at = 0; at < count; at++) {
        snprintf(name, sizeof name, "%d.json", at);
        put(queue, name, TASK);
    }
    sync();
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int at = 0; at < count; at++) {
        snprintf(name, sizeof name, "%d.json", at);
        snprintf(start, sizeof start, "%d.started.json", at);
        snprintf(result, sizeof result, "%d.result.json", at);
        snprintf(words, sizeof words, "task_%d", at);
        /* The claim: the record is read, two lanes are taken under their guards. */
        int record = must(openat(queue, name, O_RDONLY | O_CLOEXEC), name);
        must(read(record, read_back, sizeof read_back), name);
        close(record);
        int supervisor = locked(running, "supervisor.lock"), guard = locked(root, "guard");
        const char *lanes[][2] = {{"user.json", "user.lock"}, {"global.json", "global.lock"}};
        for (int lane = 0; lane < 2; lane++) {
            replace(locks, lanes[lane][0], HOLD);
            put(locks, lanes[lane][1], MARK);
        }
        close(guard);
        must(renameat(queue, name, running, name), name);
        must(write(events, bytes, 2 * EVENT), "events");
        /* The start: a folder for the outside with its logs, then the durable fact. */
        int task = folder(active, words);
        replace(task, "meta.json", META);
        int out = created(task, "stdout.log", 0), err = created(task, "stderr.log", 0);
        int end = created(running, result, 0), begin = created(running, start, START);
        must(fdatasync(begin), start);
        must(fsync(running), "fsync");
        must(write(events, bytes, 2 * EVENT), "events");
        run();
        /* The end: the durable result, the lanes, and the record among those that are over. */
        must(write(end, bytes, RESULT), result);
        must(fdatasync(end), result);
        replace(task, "meta.json", META);
        must(renameat(active, words, past, words), words);
        guard = locked(root, "guard");
        for (int lane = 0; lane < 2; lane++) {
            removed(locks, lanes[lane][1], 0);
            removed(locks, lanes[lane][0], 0);
        }
        close(guard);
        must(renameat(running, result, done, name), name);
        removed(running, name, 0);
        removed(running, start, 0);
        removed(running, "supervisor.lock", 0);
        must(write(events, bytes, 2 * EVENT), "events");
        int open[] = {supervisor, task, out, err, end, begin};
        for (size_t one = 0; one < sizeof open / sizeof *open; one++) {
            close(open[one]);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    double took = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    printf("%.0f\n", count / took);
}

int main(int count, char **args) {
    if (count < 3) {
        fputs("usage: floor enqueue DIR | floor drain DIR N\n", stderr);
        return 2;
    }
    memset(bytes, 'x', sizeof bytes);
    int root = must(open(args[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC), args[2]);
    if (strcmp(args[1], "enqueue") == 0) {
        enqueue(root);
    } else {
        drain(root, count > 3 ? atoi(args[3]) : 300);
    }
    return 0;
}
