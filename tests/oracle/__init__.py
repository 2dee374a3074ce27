"""The oracle: what must be true of every trace of every controller that a test runs, anywhere.

What it checks, tick by tick, also while the arm brakes and faults; `CHECKS` has all of it by name:

- I1: every output is finite, and `X_WP` and `V_WP_cmd` are what `q` and `qd` make of them.
- I2: joint speed and joint acceleration; the tool's speed, turning, acceleration and, where they
  are configured, its jerk. In position mode also `q_ref`, which is the command there: its steps are
  within the joint speed, their change within the acceleration.
- Joint range, walls of the workspace, the lead of `q_ref` over the measured joints.
- I3: no step where the state changes: the above holds across every change of mode; a start and the
  end of a hold are at rest, with `q_ref` where the arm is, and so no farther from where it was than
  its lead and what others moved the arm by.
- I4: an arm that brakes comes to rest, in the time that its limits need, and never gets faster on
  the way. Then it stays at exactly zero: a stop until a reset, a hold for 50 good cycles. An
  inactive controller commands nothing.
- I5: every fault is one event, in the tick that sees it, with that tick's time, the limit that was
  broken and a value that breaks it; a stop or a hold bit is never ignored.
- I7: the law is passive at its port. While nothing holds it back, mass and spring never store more
  than force times way has brought; what limits and damping do to its velocity only shortens what
  its equation gives. `energy` and `energy_given` are what force and motion make of them.

What it does not, and why:

- Tool acceleration where the status says `beyond_acceleration`: a joint's end, a wall or a
  singularity needs more, and that comes first. Where it says `contact_braking`, the limit is that.
- Jerk where joints, singularities, the distance to stop in, or what is touched hold the arm back;
  where a hard wall clips the speed; at exactly full speed, which is a cut; and a quarter more at
  full acceleration and on arrival, where the two limits meet.
- After a limit was changed live: the tool's limits until the next rest, braking as if it began
  then, range and walls until the arm has rested.
- Range and walls for an arm that goes where it was not told to: that is pushed, blocked, slowed or
  moved by hand. An arm that lags by up to 60 ms is held to them as an ideal one.
- In a chain the law's own time stands still while the robot is paused, and it starts anew from
  rest: that tick is none of its own. What the chain sends meanwhile is judged (`sent.py`).
- The law's energy while its gains are ramped, while it is streamed to or presses with a force
  (energy is theirs to give), in a contact that damping follows, where the force is taken ahead or
  late, of integrators that are not exact, and of a rotational spring that differs between axes,
  which has no potential.
- The way in which an arm brakes is not held to a straight line: weak joints may get faster by a
  tenth of what they brake from.
"""
