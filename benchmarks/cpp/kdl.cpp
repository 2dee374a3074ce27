// The tick as a ROS controller in C++ is usually written: Eigen for the law, Orocos KDL for the arm.
#include "harness.hpp"

#include <Eigen/Dense>
#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolvervel_wdls.hpp>
#include <kdl/frames.hpp>
#include <kdl/jntarray.hpp>

namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Vector6d = Eigen::Matrix<double, 6, 1>;
using RowMatrix3d = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using RowMatrix4d = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;

Vector3d vec(const double* a) { return Eigen::Map<const Vector3d>(a); }
Matrix3d mat(const double (&a)[3][3]) { return Eigen::Map<const RowMatrix3d>(&a[0][0]); }

Vector3d saturate(const Vector3d& a, double largest) {
    double n = a.norm();
    return n > largest ? Vector3d(a * (largest / n)) : a;
}
Vector3d deadband(const Vector3d& a, double threshold) {
    double n = a.norm();
    return n > threshold ? Vector3d(a * (1.0 - threshold / n)) : Vector3d(Vector3d::Zero());
}
Vector3d log3(const Quaterniond& q) {
    Eigen::AngleAxisd turn(q);
    return turn.angle() * turn.axis();
}
Quaterniond exp3(const Vector3d& a) {
    double angle = a.norm();
    return angle > 0.0 ? Quaterniond(Eigen::AngleAxisd(angle, a / angle)) : Quaterniond::Identity();
}
double braking_speed(double distance, double deceleration, double dt) {
    return distance > 0.0 ? 2.0 * distance / (dt + std::sqrt(dt * dt + 2.0 * distance / deceleration)) : 0.0;
}

// Segment i of KDL turns first and is displaced after, so the first fixed transform is a segment of its own.
KDL::Chain chain_of(const Parameters& p) {
    KDL::Chain chain;
    for (int i = 0; i < 7; ++i) {
        const auto& R = p.chain_R[i];
        const double* t = p.chain_p[i];
        KDL::Frame tip(KDL::Rotation(R[0][0], R[0][1], R[0][2], R[1][0], R[1][1], R[1][2], R[2][0], R[2][1], R[2][2]),
                       KDL::Vector(t[0], t[1], t[2]));
        chain.addSegment(KDL::Segment(KDL::Joint(i == 0 ? KDL::Joint::None : KDL::Joint::RotZ), tip));
    }
    return chain;
}

class Kdl {
  public:
    EIGEN_MAKE_ALIGNED_OPERATOR_NEW

    explicit Kdl(const Parameters& parameters)
        : p(parameters), R_PS(mat(p.R_PS)), chain(chain_of(p)), fk(chain), ik(chain), q(6), qd(6) {
        ik.setLambda(p.ik_damping);
    }

    void activate(const double* joints) {
        for (int n = 0; n < 6; ++n) q(n) = joints[n];
        measured();
        p_WD = p_WC = p_WP, Q_WD = Q_WC = Q_WP;
        x.setZero(), Q_offset.setIdentity();
        v.setZero(), F_filt.setZero(), V_cmd.setZero(), qd_prev.setZero();
        q_ref = Eigen::Map<const Vector6d>(joints);
        ticks = 0, time = 0.0;
    }

    void operator()(const Input& in, Output& out) {
        const Vector6d sensor = Eigen::Map<const Vector6d>(in.wrench);
        for (int n = 0; n < 6; ++n) q(n) = in.q[n];
        status = FINE;
        if (!(in.dt > 0.0 && in.dt <= 0.1) || !q.data.allFinite() || !sensor.allFinite()) status = BAD_INPUT;
        ++ticks, time += in.dt;
        if (status == FINE) {
            measured();
            wrench(sensor);
            error << p_WC - p_WP, log3(Q_WC * Q_WP.conjugate());
            law();
            track(in.dt);
            limit(in.dt);
            joints(in.dt);
        } else {
            qd_prev.setZero(), V_cmd.setZero();
        }
        write(in, out);
    }

  private:
    void measured() {
        fk.JntToCart(q, X_WP);
        p_WP = vec(X_WP.p.data);
        X_WP.M.GetQuaternion(Q_WP.x(), Q_WP.y(), Q_WP.z(), Q_WP.w());
    }

    void wrench(const Vector6d& sensor) {
        const Vector3d weight = p.payload_mass * (R_PS.transpose() * (Q_WP.conjugate() * vec(p.gravity)));
        F_comp = sensor - Eigen::Map<const Vector6d>(p.bias);
        F_comp.head<3>() -= weight;
        F_comp.tail<3>() -= vec(p.payload_com).cross(weight);
        if (F_comp.head<3>().norm() > p.max_force || F_comp.tail<3>().norm() > p.max_torque) status |= OVER_FORCE;
        F_filt += p.filter_gain * (F_comp - F_filt);
        const Vector3d all = R_PS * F_filt.head<3>(), f = deadband(all, p.deadband_force);
        const Vector3d t = deadband(R_PS * F_filt.tail<3>() + vec(p.p_PS).cross(all), p.deadband_torque);
        F_P << f, t;
        F_S << R_PS.transpose() * f, R_PS.transpose() * (t - vec(p.p_PS).cross(f));
    }

    void law() {
        const Matrix3d R_DP = (Q_WD.conjugate() * Q_WP).toRotationMatrix();
        Vector6d force, place, dx;
        force << R_DP * F_P.head<3>(), R_DP * F_P.tail<3>();
        place << x, log3(Q_offset);
        for (int n = 0; n < 6; ++n) {
            const double* k = p.step[n];
            const double speed = v(n);
            v(n) = k[0] * speed + k[1] * place(n) + k[2] * force(n);
            dx(n) = k[3] * speed + k[4] * place(n) + k[5] * force(n);
        }
        x += dx.head<3>();
        Q_offset = (exp3(dx.tail<3>()) * Q_offset).normalized();
        p_WC = p_WD + Q_WD * x;
        Q_WC = Q_WD * Q_offset;
    }

    void track(double dt) {
        const Vector6d pull = Eigen::Map<const Vector6d>(p.velocity_gain).cwiseProduct(error);
        const Matrix3d R_WD = Q_WD.toRotationMatrix();
        V_track << R_WD * v.head<3>() + saturate(pull.head<3>(), braking_speed(error.head<3>().norm(), p.a_max, dt)),
            R_WD * v.tail<3>() + saturate(pull.tail<3>(), braking_speed(error.tail<3>().norm(), p.alpha_max, dt));
    }

    void limit(double dt) {
        const Vector6d change = V_track - V_cmd;
        if (change.head<3>().norm() > p.a_max * dt || change.tail<3>().norm() > p.alpha_max * dt)
            status |= ACCELERATION;
        Vector3d linear = V_cmd.head<3>() + saturate(change.head<3>(), p.a_max * dt);
        const Vector3d angular = V_cmd.tail<3>() + saturate(change.tail<3>(), p.alpha_max * dt);
        for (int n = 0; n < 3; ++n) {
            double low = -braking_speed(p_WP(n) - p.workspace_min[n], p.a_max, dt);
            double high = braking_speed(p.workspace_max[n] - p_WP(n), p.a_max, dt);
            if (linear(n) < low || linear(n) > high) status |= WALL;
            linear(n) = std::min(std::max(linear(n), low), high);
        }
        if (linear.norm() > p.v_max || angular.norm() > p.w_max) status |= SPEED;
        V_cmd << saturate(linear, p.v_max), saturate(angular, p.w_max);
    }

    void joints(double dt) {
        KDL::Twist twist(KDL::Vector(V_cmd(0), V_cmd(1), V_cmd(2)), KDL::Vector(V_cmd(3), V_cmd(4), V_cmd(5)));
        if (ik.CartToJnt(q, twist, qd) < 0) status |= JOINT;
        for (int n = 0; n < 6; ++n) {
            const double a = p.qdd_max[n];
            double low = std::max(-p.qd_max[n], qd_prev(n) - a * dt), high = std::min(p.qd_max[n], qd_prev(n) + a * dt);
            low = std::max(low, -braking_speed(q(n) - p.q_min[n], a, dt));
            high = std::min(high, braking_speed(p.q_max[n] - q(n), a, dt));
            if (qd(n) < low || qd(n) > high) status |= JOINT;
            qd_prev(n) = std::min(std::max(qd(n), low), high);
            double lead = (q_ref(n) - q(n)) * (1.0 - std::min(1.0, p.leak * dt)) + qd_prev(n) * dt;
            q_ref(n) = q(n) + std::min(std::max(lead, -p.max_joint_lead), p.max_joint_lead);
        }
    }

    static void write_pose(double (&X)[4][4], const Vector3d& position, const Quaterniond& Q) {
        Eigen::Map<RowMatrix4d> out(&X[0][0]);
        out.setIdentity();
        out.topLeftCorner<3, 3>() = Q.toRotationMatrix();
        out.topRightCorner<3, 1>() = position;
    }

    void write(const Input& in, Output& out) const {
        using Out = Eigen::Map<Vector6d>;
        out.tick = ticks, out.status = status, out.time = time;
        write_pose(out.X_WP, p_WP, Q_WP);
        write_pose(out.X_WC, p_WC, Q_WC);
        write_pose(out.X_WD, p_WD, Q_WD);
        Out(out.offset) << x, log3(Q_offset);
        Out(out.qd) = qd_prev, Out(out.q_ref) = q_ref, Out(out.V_cmd) = V_cmd, Out(out.V_track) = V_track;
        Out(out.error) = error, Out(out.offset_rate) = v;
        Out(out.q) = Eigen::Map<const Vector6d>(in.q), Out(out.wrench) = Eigen::Map<const Vector6d>(in.wrench);
        Out(out.F_S_comp) = F_comp, Out(out.F_S_filt) = F_filt, Out(out.F_S) = F_S, Out(out.F_P) = F_P;
    }

    const Parameters& p;
    const Matrix3d R_PS;
    KDL::Chain chain;
    KDL::ChainFkSolverPos_recursive fk;
    KDL::ChainIkSolverVel_wdls ik;
    KDL::JntArray q, qd;
    KDL::Frame X_WP;
    int64_t status = 0, ticks = 0;
    double time = 0.0;
    Vector3d p_WP, p_WD, p_WC, x;
    Quaterniond Q_WP, Q_WD, Q_WC, Q_offset;
    Vector6d F_comp, F_filt, F_S, F_P;
    Vector6d v, error, V_track, V_cmd, qd_prev, q_ref;
};

}  // namespace

int main(int argc, char** argv) { return measure<Kdl>(argc, argv); }
