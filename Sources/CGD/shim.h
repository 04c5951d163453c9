// libgd, loaded when it is needed: it brings some thirty libraries along, which whoever makes no thumbnail can do without.
#pragma once
#include <dlfcn.h>
#include <gd.h>
#include <stddef.h>

// The functions that are called.
#define CGD_FUNCTIONS(use)                                                                                    \
    use(gdFree) use(gdImageAlphaBlending) use(gdImageCopyResampled) use(gdImageCreateFromGifPtr)              \
    use(gdImageCreateFromJpegPtr) use(gdImageCreateFromPngPtr) use(gdImageCreateFromWebpPtr)                  \
    use(gdImageCreateTrueColor) use(gdImageDestroy) use(gdImageGetTrueColorPixel) use(gdImageJpegPtr)         \
    use(gdImagePngPtr) use(gdImageSaveAlpha) use(gdImageSetPixel)

#define CGD_FIELD(name) __typeof__(&name) _Nonnull name;
struct cgd {
    CGD_FUNCTIONS(CGD_FIELD)
};
#undef CGD_FIELD

/// Libgd's functions; false where the library, or one of them, is not there.
static inline int cgd_load(struct cgd *_Nonnull functions) {
    void *library = dlopen("libgd.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define CGD_FIND(name) \
    if (!(functions->name = (__typeof__(&name))dlsym(library, #name))) return 0;
    CGD_FUNCTIONS(CGD_FIND)
#undef CGD_FIND
    return 1;
}
