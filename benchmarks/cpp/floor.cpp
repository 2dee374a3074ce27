// The tick in plain C++: arrays, hand-written kinematics, a 6x6 Cholesky. As fast as it reasonably gets.
#include "harness.hpp"

#include <cmath>

namespace {

struct Vec {
    double x, y, z;
};
struct Quat {
    double w, x, y, z;
};

inline Vec vec(const double* a) { return {a[0], a[1], a[2]}; }
inline void put(double* a, Vec v) { a[0] = v.x, a[1] = v.y, a[2] = v.z; }
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator*(double k, Vec a) { return {k * a.x, k * a.y, k * a.z}; }
inline Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double norm(Vec a) { return std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z); }
inline Vec saturate(Vec a, double largest) {
    double n = norm(a);
    return n > largest ? (largest / n) * a : a;
}
inline Vec deadband(Vec a, double threshold) {
    double n = norm(a);
    return n > threshold ? (1.0 - threshold / n) * a : Vec{0, 0, 0};
}
inline Vec turn(const double R[3][3], Vec a) {
    return {R[0][0] * a.x + R[0][1] * a.y + R[0][2] * a.z, R[1][0] * a.x + R[1][1] * a.y + R[1][2] * a.z,
            R[2][0] * a.x + R[2][1] * a.y + R[2][2] * a.z};
}
inline Vec turn_back(const double R[3][3], Vec a) {
    return {R[0][0] * a.x + R[1][0] * a.y + R[2][0] * a.z, R[0][1] * a.x + R[1][1] * a.y + R[2][1] * a.z,
            R[0][2] * a.x + R[1][2] * a.y + R[2][2] * a.z};
}

inline Quat operator*(Quat a, Quat b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
inline Quat inverse(Quat a) { return {a.w, -a.x, -a.y, -a.z}; }
inline Quat normalised(Quat a) {
    double k = 1.0 / std::sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
    return {a.w * k, a.x * k, a.y * k, a.z * k};
}
inline Vec rotate(Quat q, Vec a) {
    Vec u{q.x, q.y, q.z}, t = 2.0 * cross(u, a);
    return a + q.w * t + cross(u, t);
}
inline Quat exp3(Vec a) {
    double angle = norm(a), k, w;
    if (angle < 1e-4) {
        k = 0.5 - angle * angle / 48.0, w = 1.0 - angle * angle / 8.0;
    } else {
        k = std::sin(0.5 * angle) / angle, w = std::cos(0.5 * angle);
    }
    return {w, k * a.x, k * a.y, k * a.z};
}
inline Vec log3(Quat q) {
    Vec u{q.x, q.y, q.z};
    if (q.w < 0.0) q.w = -q.w, u = -1.0 * u;
    double n = norm(u);
    return (n < 1e-4 ? 2.0 + n * n / 3.0 : 2.0 * std::atan2(n, q.w) / n) * u;
}
inline Quat quaternion(const double R[3][3]) {
    double t = R[0][0] + R[1][1] + R[2][2];
    if (t > 0.0) {
        double r = std::sqrt(1.0 + t), k = 0.5 / r;
        return {0.5 * r, (R[2][1] - R[1][2]) * k, (R[0][2] - R[2][0]) * k, (R[1][0] - R[0][1]) * k};
    }
    if (R[0][0] >= R[1][1] && R[0][0] >= R[2][2]) {
        double r = std::sqrt(1.0 + R[0][0] - R[1][1] - R[2][2]), k = 0.5 / r;
        return {(R[2][1] - R[1][2]) * k, 0.5 * r, (R[0][1] + R[1][0]) * k, (R[0][2] + R[2][0]) * k};
    }
    if (R[1][1] >= R[2][2]) {
        double r = std::sqrt(1.0 - R[0][0] + R[1][1] - R[2][2]), k = 0.5 / r;
        return {(R[0][2] - R[2][0]) * k, (R[0][1] + R[1][0]) * k, 0.5 * r, (R[1][2] + R[2][1]) * k};
    }
    double r = std::sqrt(1.0 - R[0][0] - R[1][1] + R[2][2]), k = 0.5 / r;
    return {(R[1][0] - R[0][1]) * k, (R[0][2] + R[2][0]) * k, (R[1][2] + R[2][1]) * k, 0.5 * r};
}
inline void write_pose(double X[4][4], Vec p, Quat q) {
    X[0][0] = 1 - 2 * (q.y * q.y + q.z * q.z), X[0][1] = 2 * (q.x * q.y - q.w * q.z);
    X[0][2] = 2 * (q.x * q.z + q.w * q.y), X[1][0] = 2 * (q.x * q.y + q.w * q.z);
    X[1][1] = 1 - 2 * (q.x * q.x + q.z * q.z), X[1][2] = 2 * (q.y * q.z - q.w * q.x);
    X[2][0] = 2 * (q.x * q.z - q.w * q.y), X[2][1] = 2 * (q.y * q.z + q.w * q.x);
    X[2][2] = 1 - 2 * (q.x * q.x + q.y * q.y);
    X[0][3] = p.x, X[1][3] = p.y, X[2][3] = p.z;
    X[3][0] = X[3][1] = X[3][2] = 0.0, X[3][3] = 1.0;
}
inline double braking_speed(double distance, double deceleration, double dt) {
    return distance > 0.0 ? 2.0 * distance / (dt + std::sqrt(dt * dt + 2.0 * distance / deceleration)) : 0.0;
}

class Floor {
  public:
    explicit Floor(const Parameters& parameters) : p(parameters) {}

    void activate(const double* q) {
        kinematics(q);
        p_WD = p_WC = p_WP, wxyz_WD = wxyz_WC = wxyz_WP;
        x = {0, 0, 0}, wxyz_offset = {1, 0, 0, 0};
        for (int n = 0; n < 6; ++n) v[n] = F_S_filt[n] = V_cmd[n] = qd[n] = 0.0, q_ref[n] = q[n];
        ticks = 0, time = 0.0;
    }

    void operator()(const Input& in, Output& out) {
        status = check(in);
        ++ticks, time += in.dt;
        if (status == FINE) {
            kinematics(in.q);
            wrench(in.wrench);
            Vec e = p_WC - p_WP, r = log3(wxyz_WC * inverse(wxyz_WP));
            put(error, e), put(error + 3, r);
            law();
            track(e, r, in.dt);
            limit(in.dt);
            joints(in);
        } else {
            for (int n = 0; n < 6; ++n) qd[n] = V_cmd[n] = 0.0;
        }
        write(in, out);
    }

  private:
    static int64_t check(const Input& in) {
        bool fine = in.dt > 0.0 && in.dt <= 0.1;
        for (int n = 0; n < 6; ++n) fine = fine && std::isfinite(in.q[n]) && std::isfinite(in.wrench[n]);
        return fine ? FINE : BAD_INPUT;
    }

    void kinematics(const double* q) {
        double R[3][3], o[3];
        for (int i = 0; i < 3; ++i) {
            o[i] = p.chain_p[0][i];
            for (int j = 0; j < 3; ++j) R[i][j] = p.chain_R[0][i][j];
        }
        for (int n = 0; n < 6; ++n) {
            const double c = std::cos(q[n]), s = std::sin(q[n]);
            const auto& A = p.chain_R[n + 1];
            const double* t = p.chain_p[n + 1];
            for (int i = 0; i < 3; ++i) {
                J[i][n] = o[i], J[i + 3][n] = R[i][2];
                double a = R[i][0] * c + R[i][1] * s, b = R[i][1] * c - R[i][0] * s, z = R[i][2];
                o[i] += a * t[0] + b * t[1] + z * t[2];
                for (int j = 0; j < 3; ++j) R[i][j] = a * A[0][j] + b * A[1][j] + z * A[2][j];
            }
        }
        for (int n = 0; n < 6; ++n) {
            Vec axis{J[3][n], J[4][n], J[5][n]};
            Vec column = cross(axis, {o[0] - J[0][n], o[1] - J[1][n], o[2] - J[2][n]});
            J[0][n] = column.x, J[1][n] = column.y, J[2][n] = column.z;
        }
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) R_WP[i][j] = R[i][j];
        p_WP = {o[0], o[1], o[2]};
        wxyz_WP = quaternion(R);
    }

    void wrench(const double* sensor) {
        Vec weight = p.payload_mass * turn_back(p.R_PS, turn_back(R_WP, vec(p.gravity)));
        Vec f = vec(sensor) - vec(p.bias) - weight;
        Vec t = vec(sensor + 3) - vec(p.bias + 3) - cross(vec(p.payload_com), weight);
        if (norm(f) > p.max_force || norm(t) > p.max_torque) status |= OVER_FORCE;
        put(F_S_comp, f), put(F_S_comp + 3, t);
        for (int n = 0; n < 6; ++n) F_S_filt[n] += p.filter_gain * (F_S_comp[n] - F_S_filt[n]);
        f = turn(p.R_PS, vec(F_S_filt));
        t = deadband(turn(p.R_PS, vec(F_S_filt + 3)) + cross(vec(p.p_PS), f), p.deadband_torque);
        f = deadband(f, p.deadband_force);
        put(F_P, f), put(F_P + 3, t);
        put(F_S, turn_back(p.R_PS, f)), put(F_S + 3, turn_back(p.R_PS, t - cross(vec(p.p_PS), f)));
    }

    // The exact step of M a + D v + K x = F in the axes of D, and the pose it commands.
    void law() {
        Quat wxyz_DP = inverse(wxyz_WD) * wxyz_WP;
        Vec f = rotate(wxyz_DP, vec(F_P)), t = rotate(wxyz_DP, vec(F_P + 3)), phi = log3(wxyz_offset);
        const double force[6] = {f.x, f.y, f.z, t.x, t.y, t.z}, place[6] = {x.x, x.y, x.z, phi.x, phi.y, phi.z};
        double dx[6];
        for (int n = 0; n < 6; ++n) {
            const double* k = p.step[n];
            const double speed = v[n];
            v[n] = k[0] * speed + k[1] * place[n] + k[2] * force[n];
            dx[n] = k[3] * speed + k[4] * place[n] + k[5] * force[n];
        }
        x = x + vec(dx);
        wxyz_offset = normalised(exp3(vec(dx + 3)) * wxyz_offset);
        p_WC = p_WD + rotate(wxyz_WD, x);
        wxyz_WC = wxyz_WD * wxyz_offset;
    }

    void track(Vec e, Vec r, double dt) {
        const double* k = p.velocity_gain;
        Vec ke{k[0] * e.x, k[1] * e.y, k[2] * e.z}, kr{k[3] * r.x, k[4] * r.y, k[5] * r.z};
        put(V_track, rotate(wxyz_WD, vec(v)) + saturate(ke, braking_speed(norm(e), p.a_max, dt)));
        put(V_track + 3, rotate(wxyz_WD, vec(v + 3)) + saturate(kr, braking_speed(norm(r), p.alpha_max, dt)));
    }

    void limit(double dt) {
        Vec change = vec(V_track) - vec(V_cmd), turning = vec(V_track + 3) - vec(V_cmd + 3);
        if (norm(change) > p.a_max * dt || norm(turning) > p.alpha_max * dt) status |= ACCELERATION;
        Vec linear = vec(V_cmd) + saturate(change, p.a_max * dt);
        Vec angular = vec(V_cmd + 3) + saturate(turning, p.alpha_max * dt);
        double l[3] = {linear.x, linear.y, linear.z}, place[3] = {p_WP.x, p_WP.y, p_WP.z};
        for (int n = 0; n < 3; ++n) {
            double low = -braking_speed(place[n] - p.workspace_min[n], p.a_max, dt);
            double high = braking_speed(p.workspace_max[n] - place[n], p.a_max, dt);
            if (l[n] < low) l[n] = low, status |= WALL;
            if (l[n] > high) l[n] = high, status |= WALL;
        }
        if (norm(vec(l)) > p.v_max || norm(angular) > p.w_max) status |= SPEED;
        put(V_cmd, saturate(vec(l), p.v_max));
        put(V_cmd + 3, saturate(angular, p.w_max));
    }

    // (J^T J + lambda^2) qd = J^T V by Cholesky, then each joint cut to what it may do.
    void joints(const Input& in) {
        double L[6][6], y[6], reciprocal[6];
        for (int n = 0; n < 6; ++n) {
            double t = 0.0;
            for (int k = 0; k < 6; ++k) t += J[k][n] * V_cmd[k];
            for (int m = 0; m <= n; ++m) {
                double a = n == m ? p.ik_damping * p.ik_damping : 0.0;
                for (int k = 0; k < 6; ++k) a += J[k][n] * J[k][m];
                for (int k = 0; k < m; ++k) a -= L[n][k] * L[m][k];
                if (m == n) {
                    reciprocal[n] = 1.0 / std::sqrt(a);
                } else {
                    L[n][m] = a * reciprocal[m];
                    t -= L[n][m] * y[m];
                }
            }
            y[n] = t * reciprocal[n];
        }
        for (int n = 5; n >= 0; --n) {
            for (int m = n + 1; m < 6; ++m) y[n] -= L[m][n] * y[m];
            y[n] *= reciprocal[n];
        }
        const double keep = 1.0 - std::min(1.0, p.leak * in.dt);
        for (int n = 0; n < 6; ++n) {
            const double a = p.qdd_max[n], dt = in.dt;
            double low = std::max(-p.qd_max[n], qd[n] - a * dt), high = std::min(p.qd_max[n], qd[n] + a * dt);
            low = std::max(low, -braking_speed(in.q[n] - p.q_min[n], a, dt));
            high = std::min(high, braking_speed(p.q_max[n] - in.q[n], a, dt));
            if (y[n] < low) y[n] = low, status |= JOINT;
            if (y[n] > high) y[n] = high, status |= JOINT;
            qd[n] = y[n];
            double lead = (q_ref[n] - in.q[n]) * keep + qd[n] * dt;
            q_ref[n] = in.q[n] + std::min(std::max(lead, -p.max_joint_lead), p.max_joint_lead);
        }
    }

    void write(const Input& in, Output& out) const {
        out.tick = ticks, out.status = status, out.time = time;
        write_pose(out.X_WP, p_WP, wxyz_WP);
        write_pose(out.X_WC, p_WC, wxyz_WC);
        write_pose(out.X_WD, p_WD, wxyz_WD);
        put(out.offset, x), put(out.offset + 3, log3(wxyz_offset));
        for (int n = 0; n < 6; ++n) {
            out.qd[n] = qd[n], out.q_ref[n] = q_ref[n], out.V_cmd[n] = V_cmd[n], out.V_track[n] = V_track[n];
            out.error[n] = error[n], out.offset_rate[n] = v[n], out.q[n] = in.q[n], out.wrench[n] = in.wrench[n];
            out.F_S_comp[n] = F_S_comp[n], out.F_S_filt[n] = F_S_filt[n], out.F_S[n] = F_S[n], out.F_P[n] = F_P[n];
        }
    }

    const Parameters& p;
    int64_t status = 0, ticks = 0;
    double time = 0.0;
    double J[6][6], R_WP[3][3];
    Vec p_WP, p_WD, p_WC, x;
    Quat wxyz_WP, wxyz_WD, wxyz_WC, wxyz_offset;
    double F_S_comp[6], F_S_filt[6], F_S[6], F_P[6];
    double v[6], error[6], V_track[6], V_cmd[6], qd[6], q_ref[6];
};

}  // namespace

int main(int argc, char** argv) { return measure<Floor>(argc, argv); }
