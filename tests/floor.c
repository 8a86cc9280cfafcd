/* The floor of luzia: the durable and visible steps of its verbs, in one C program that decides nothing. tests/speed compiles
 * it and measures luzia against it.
 *
 *   floor enqueue DIR            one record written, synced and named, as `enqueue` answers
 *   floor lock DIR               `true` under one lane, as `lock -l LANE -- true` does
 *   floor start DIR COMMAND...   a task from its record to its end, by a second process that outlives the first, as `run` does
 *   floor drain DIR N            N tasks of one user from their records to their ends, as `dispatch --drain` does; prints tasks a second
 *   floor bulk DIR N USERS       N records in the queues of USERS users, as `enqueue --from` makes them
 *   floor list DIR               a row for each of these records, which are read, as `list` does
 */
#define _GNU_SOURCE
#include <dirent.h>
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

/* Runs a program to its end, in a session of its own or in this one. */
static void run(const char *program, char **words, short session) {
    posix_spawnattr_t how;
    pid_t child;
    int status;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, session);
    must(-posix_spawnp(&child, program, NULL, &how, words, environ), "posix_spawn");
    must(waitpid(child, &status, 0), "waitpid");
}

static char *nothing[] = {"true", NULL};

static int events_of(int root) {
    return must(openat(root, "events", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600), "events");
}

static void lock(int root) {
    char numbers[110];
    int locks = folder(root, "locks"), events = events_of(root), guard = locked(root, "guard");
    must(pread(guard, numbers, sizeof numbers, 0), "guard");
    must(pwrite(guard, bytes, sizeof numbers, 0), "guard");
    replace(locks, "lane.json", HOLD);
    int held = created(locks, "lane.lock", MARK);
    must(flock(held, LOCK_EX), "lane.lock");
    must(linkat(locks, "lane.lock", locks, ".held", 0), ".held");
    close(guard);
    must(write(events, bytes, EVENT), "events");
    run("/bin/true", nothing, 0);
    guard = locked(root, "guard");
    removed(locks, ".held", 0);
    removed(locks, "lane.lock", 0);
    removed(locks, "lane.json", 0);
    close(guard);
    must(write(events, bytes, EVENT), "events");
}

/* Takes the tasks of these numbers from their records to their ends. */
static void supervise(int root, int first, int count, const char *program, char **command) {
    int queue = folder(root, "pending"), running = folder(root, "running"), done = folder(root, "done");
    int locks = folder(root, "locks"), active = folder(root, "active"), past = folder(root, "past");
    int events = events_of(root);
    char name[32], start[32], result[32], words[32], read_back[TASK];
    for (int at = first; at < first + count; at++) {
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
        run(program, command, POSIX_SPAWN_SETSID);
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
}

static void drain(int root, int count) {
    int queue = folder(root, "pending");
    char name[32];
    for (int at = 0; at < count; at++) {
        snprintf(name, sizeof name, "%d.json", at);
        put(queue, name, TASK);
    }
    sync();
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    supervise(root, 0, count, "/bin/true", nothing);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double took = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    printf("%.0f\n", count / took);
}

/* The records of a batch get their names with the folder of their queue. */
static void bulk(int root, int count, int users) {
    int drafts = folder(root, "drafts"), queues = folder(root, "pending");
    char name[32], user[32];
    for (int at = 0; at < users; at++) {
        snprintf(user, sizeof user, "u%d", at);
        int queue = folder(drafts, user);
        for (int one = at; one < count; one += users) {
            snprintf(name, sizeof name, "%d.json", one);
            put(queue, name, TASK);
        }
        close(queue);
    }
    must(syncfs(root), "syncfs");
    for (int at = 0; at < users; at++) {
        snprintf(user, sizeof user, "u%d", at);
        must(renameat(drafts, user, queues, user), user);
    }
    must(syncfs(root), "syncfs");
}

static void list(int root) {
    DIR *queues = fdopendir(folder(root, "pending"));
    char read_back[TASK];
    for (struct dirent *user; (user = readdir(queues)) != NULL;) {
        if (user->d_name[0] == '.') {
            continue;
        }
        DIR *queue = fdopendir(must(openat(dirfd(queues), user->d_name, O_RDONLY | O_DIRECTORY), user->d_name));
        for (struct dirent *task; (task = readdir(queue)) != NULL;) {
            if (task->d_name[0] == '.') {
                continue;
            }
            int record = must(openat(dirfd(queue), task->d_name, O_RDONLY | O_CLOEXEC), task->d_name);
            must(read(record, read_back, sizeof read_back), task->d_name);
            close(record);
            printf("%-10s %-8s pending  -    2s      -      %.30s\n", task->d_name, user->d_name, read_back);
        }
        closedir(queue);
    }
}

static int number(const char *word, int other) { return word == NULL ? other : atoi(word); }

int main(int count, char **args) {
    if (count < 3) {
        fputs("usage: floor enqueue|lock|start|drain|bulk|list DIR ...\n", stderr);
        return 2;
    }
    memset(bytes, 'x', sizeof bytes);
    int root = must(open(args[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC), args[2]);
    const char *verb = args[1];
    if (strcmp(verb, "enqueue") == 0) {
        enqueue(root);
    } else if (strcmp(verb, "lock") == 0) {
        lock(root);
    } else if (strcmp(verb, "start") == 0) {
        char pid[16];
        enqueue(root);
        snprintf(pid, sizeof pid, "%d", getpid());
        setenv("FLOOR_TASK", pid, 1);
        args[1] = "supervise";
        run("/proc/self/exe", args, POSIX_SPAWN_SETSID);
    } else if (strcmp(verb, "supervise") == 0) {
        supervise(root, number(getenv("FLOOR_TASK"), 0), 1, args[3], args + 3);
    } else if (strcmp(verb, "bulk") == 0) {
        bulk(root, number(args[3], 20000), count > 4 ? number(args[4], 1) : 1);
    } else if (strcmp(verb, "list") == 0) {
        list(root);
    } else {
        drain(root, number(args[3], 300));
    }
    return 0;
}
