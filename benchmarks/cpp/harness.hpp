// What both C++ rivals share: the parameters Python wrote, the clock, the counting of allocations, the report.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

// Every heap allocation of the process goes through here, operator new and Eigen's included.
static std::size_t allocations = 0;

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* malloc(std::size_t size) { return ++allocations, __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) { return ++allocations, __libc_calloc(n, size); }
void* realloc(void* p, std::size_t size) { return ++allocations, __libc_realloc(p, size); }
}

// Doubles only, in the order in which workload.py writes them.
struct Parameters {
    double chain_R[7][3][3], chain_p[7][3];
    double R_PS[3][3], p_PS[3];
    double q_min[6], q_max[6], qd_max[6], qdd_max[6];
    double bias[6], payload_mass, payload_com[3], gravity[3];
    double max_force, max_torque;
    double filter_gain, deadband_force, deadband_torque;
    double step[6][6];  // exact step of each axis: vv vx vF xv xx xF
    double velocity_gain[6];
    double max_joint_lead, leak;
    double v_max, w_max, a_max, alpha_max;
    double workspace_min[3], workspace_max[3];
    double ik_damping;
};

struct Input {
    double q[6], wrench[6], dt;
};

struct Output {
    int64_t tick, status;
    double time;
    double qd[6], q_ref[6];
    double V_cmd[6], V_track[6], error[6];
    double X_WP[4][4], X_WC[4][4], X_WD[4][4];
    double offset[6], offset_rate[6];
    double q[6], wrench[6], F_S_comp[6], F_S_filt[6], F_S[6], F_P[6];
};

enum Status : int64_t { FINE = 0, BAD_INPUT = 1, OVER_FORCE = 2, SPEED = 4, ACCELERATION = 8, WALL = 16, JOINT = 32 };

inline int64_t nanoseconds() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

inline double quantile(std::vector<int64_t>& sorted, double part) {
    return double(sorted[std::min(sorted.size() - 1, std::size_t(part * double(sorted.size())))]);
}

// What reading the clock costs, so that it can be taken off each sample.
inline int64_t clock_overhead() {
    std::vector<int64_t> gaps(20001);
    for (auto& gap : gaps) {
        int64_t before = nanoseconds();
        gap = nanoseconds() - before;
    }
    std::nth_element(gaps.begin(), gaps.begin() + 10000, gaps.end());
    return gaps[10000];
}

// usage: PROGRAM parameters inputs passes commands
// Writes the joint rates of one pass to `commands`, then times `passes` passes of both kinds: one clock reading per
// BLOCK ticks, for the mean of a block, and one per tick, for the distribution. The mean reported is that of the
// median block, so that a block during which the machine did something else does not count.
constexpr std::size_t BLOCK = 16;

template <class Tick>
int measure(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s parameters inputs passes commands\n", argv[0]);
        return 2;
    }
    auto parameters = std::make_unique<Parameters>();
    std::FILE* file = std::fopen(argv[1], "rb");
    bool whole = file && std::fread(parameters.get(), sizeof(Parameters), 1, file) == 1 && std::fgetc(file) == EOF;
    if (file) std::fclose(file);
    std::vector<Input> inputs;
    if ((file = std::fopen(argv[2], "rb"))) {
        for (Input input; std::fread(&input, sizeof input, 1, file) == 1;) inputs.push_back(input);
        std::fclose(file);
    }
    if (!whole || inputs.empty()) {
        std::fprintf(stderr, "%s: cannot read the parameters or the inputs\n", argv[0]);
        return 1;
    }
    const int passes = std::atoi(argv[3]);

    auto tick = std::make_unique<Tick>(*parameters);
    auto output = std::make_unique<Output>();
    if (!(file = std::fopen(argv[4], "wb"))) return 1;
    tick->activate(inputs[0].q);
    int64_t status = 0;
    for (const Input& input : inputs) {
        (*tick)(input, *output);
        status |= output->status;
        std::fwrite(output->qd, sizeof output->qd, 1, file);
    }
    std::fclose(file);

    const int64_t overhead = clock_overhead();
    std::vector<int64_t> samples, blocks;
    samples.reserve(inputs.size() * passes), blocks.reserve(inputs.size() / BLOCK * passes);
    std::size_t allocated = 0;
    for (int pass = 0; pass < passes; ++pass) {
        tick->activate(inputs[0].q);
        const std::size_t allocated_before = allocations;
        for (std::size_t k = 0; k + BLOCK <= inputs.size(); k += BLOCK) {
            const int64_t before = nanoseconds();
            for (std::size_t j = k; j < k + BLOCK; ++j) (*tick)(inputs[j], *output);
            blocks.push_back(nanoseconds() - before - overhead);
        }
        allocated += allocations - allocated_before;

        tick->activate(inputs[0].q);
        for (const Input& input : inputs) {
            const int64_t before = nanoseconds();
            (*tick)(input, *output);
            samples.push_back(std::max<int64_t>(0, nanoseconds() - before - overhead));
        }
    }
    std::sort(samples.begin(), samples.end());
    std::sort(blocks.begin(), blocks.end());
    std::printf(
        "{\"mean\": %.2f, \"p50\": %.0f, \"p99\": %.0f, \"p99.9\": %.0f, \"max\": %.0f, "
        "\"allocations\": %.4f, \"status\": %lld, \"clock\": %lld}\n",
        quantile(blocks, 0.5) / BLOCK, quantile(samples, 0.5), quantile(samples, 0.99), quantile(samples, 0.999),
        double(samples.back()), double(allocated) / double(blocks.size() * BLOCK), (long long)status, (long long)overhead);
    return 0;
}
