// Preloaded into a Python process, counts its heap allocations; `allocation_count()` tells how many so far.
#include <atomic>
#include <cstddef>

static std::atomic<std::size_t> count{0};

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* malloc(std::size_t size) { return ++count, __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) { return ++count, __libc_calloc(n, size); }
void* realloc(void* p, std::size_t size) { return ++count, __libc_realloc(p, size); }
std::size_t allocation_count() { return count; }
}
