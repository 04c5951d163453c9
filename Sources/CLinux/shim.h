// The kernel interfaces that Swift's Glibc module leaves out.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// The address of accept4 is a transparent union, for which Swift cannot pass NULL.
static inline int clinux_accept(int descriptor, int flags) {
    return accept4(descriptor, (struct sockaddr *)0, (socklen_t *)0, flags);
}
