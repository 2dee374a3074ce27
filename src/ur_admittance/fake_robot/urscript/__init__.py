"""URScript, the controller's language: parsed by a grammar, compiled, run in cycles of 2 ms."""

from ur_admittance.fake_robot.urscript.compiler import Program, compile_script
from ur_admittance.fake_robot.urscript.runtime import Execution
from ur_admittance.fake_robot.urscript.tree import ScriptError

__all__ = ["Execution", "Program", "ScriptError", "compile_script"]
