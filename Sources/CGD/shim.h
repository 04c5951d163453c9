// libgd, loaded on demand: it loads about thirty other libraries, which are needed only for thumbnails.
#pragma once
#include <dlfcn.h>
#include <gd.h>
#include <stddef.h>

// The functions in use.
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

/// Loads libgd's functions; false when the library or one of the functions is missing.
static inline int cgd_load(struct cgd *_Nonnull functions) {
    void *library = dlopen("libgd.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define CGD_FIND(name) \
    if (!(functions->name = (__typeof__(&name))dlsym(library, #name))) return 0;
    CGD_FUNCTIONS(CGD_FIND)
#undef CGD_FIND
    return 1;
}
