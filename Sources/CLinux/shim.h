// The kernel interfaces that Swift's Glibc module leaves out. No feature macro may be set here: it would give the types
// that both modules share another shape.
#pragma once
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// `struct ucred`, which `SO_PEERCRED` fills in (unix(7)).
struct clinux_credentials {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

/// `accept4` (accept(2)); the address and its length are not asked for and stay null.
extern int clinux_accept4(int descriptor, void *address, void *length, int flags) __asm__("accept4");
