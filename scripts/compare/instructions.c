// A plugin of qemu-user that counts the instructions that a program executes, of all threads, and
// prints their number to standard error when it ends. Built by scripts/compare/instructions. What it
// needs of qemu's interface is declared here, since Debian ships no header for it.

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
struct block;
typedef void (*on_translated)(plugin_id, struct block *);
typedef void (*on_executed)(unsigned cpu, void *data);
typedef void (*on_exit)(plugin_id, void *data);
enum registers { NO_REGISTERS };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, on_translated);
void qemu_plugin_register_vcpu_tb_exec_cb(struct block *, on_executed, enum registers, void *data);
void qemu_plugin_register_atexit_cb(plugin_id, on_exit, void *data);
size_t qemu_plugin_tb_n_insns(const struct block *);

int qemu_plugin_version = 1;

static uint64_t total;

static void executed(unsigned cpu, void *instructions) {
    __atomic_fetch_add(&total, (uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void translated(plugin_id id, struct block *b) {
    qemu_plugin_register_vcpu_tb_exec_cb(b, executed, NO_REGISTERS, (void *)(uintptr_t)qemu_plugin_tb_n_insns(b));
}

static void ended(plugin_id id, void *data) { fprintf(stderr, "instructions: %" PRIu64 "\n", total); }

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
