// libcurl's option setters are variadic, which Swift cannot call: one typed function for each kind of value.
#pragma once
#include <curl/curl.h>

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
